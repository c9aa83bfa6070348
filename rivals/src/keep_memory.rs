//! The one option of the allocator that rivals set.

use libmimalloc_sys::{mi_option_set, mi_option_t};

/// `mi_option_purge_delay` in mimalloc.h: after how many milliseconds the allocator gives freed memory back to the kernel;
/// -1 is never. The binding has no name for it.
const PURGE_DELAY: mi_option_t = 15;

/// Has the allocator keep freed memory, which the next step takes again: a step frees and takes megabytes, and a run takes
/// half to two thirds of the processor time that it takes where they go back to the kernel in between.
pub fn keep_memory() {
    // SAFETY: sets a number of the allocator's, which may be changed at any time.
    unsafe { mi_option_set(PURGE_DELAY, -1) };
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;

    use super::*;

    #[test]
    fn the_option_is_the_one_that_mimalloc_calls_purge_delay() -> anyhow::Result<()> {
        // The allocator reads options from the environment by their names, as it starts.
        const NAME: &str = "MIMALLOC_PURGE_DELAY";
        if env::var_os(NAME).is_some() {
            // SAFETY: reads a number of the allocator's.
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
