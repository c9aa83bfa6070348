//! Catches panics of libraries that trust their input.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use anyhow::{Result, anyhow};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `read` and turns a panic into an error, without printing anything. After a panic, the
/// caller must not use values that `read` modified.
pub fn catch_panic<T>(read: impl FnOnce() -> T) -> Result<T> {
    HOOK.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                loud(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    QUIET.set(false);
    result.map_err(|_| anyhow!("damaged: its content makes no sense"))
}
