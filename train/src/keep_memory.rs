//! The one allocator option that training sets.

use libmimalloc_sys::{mi_option_set, mi_option_t};

/// `mi_option_purge_delay` in mimalloc.h: the delay in milliseconds before the allocator returns
/// freed memory to the kernel; -1 means never. The binding has no name for it.
const PURGE_DELAY: mi_option_t = 15;

/// Makes the allocator keep freed memory for the next step. Each step frees and allocates
/// megabytes, and the kernel clears every page before a process gets it. Keeping the pages reduces
/// the processor time of a run to between half and two thirds.
pub fn keep_memory() {
    // SAFETY: the call sets an integer option, which is allowed at any time.
    unsafe { mi_option_set(PURGE_DELAY, -1) };
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;

    use super::*;

    #[test]
    fn the_option_is_the_one_that_mimalloc_calls_purge_delay() -> anyhow::Result<()> {
        // At startup the allocator reads options by name from the environment.
        const NAME: &str = "MIMALLOC_PURGE_DELAY";
        if env::var_os(NAME).is_some() {
            // SAFETY: the call reads an integer option.
            let delay = unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
            assert_eq!(delay, 77);
            return Ok(());
        }
        let own = [
            "--exact",
            "keep_memory::tests::the_option_is_the_one_that_mimalloc_calls_purge_delay",
        ];
        let found = Command::new(env::current_exe()?).args(own).env(NAME, "77").output()?;
        let said = String::from_utf8_lossy(&found.stdout);
        assert!(found.status.success() && said.contains("1 passed"), "{said}");
        Ok(())
    }
}
