//! For tests: makes the system refuse a thread or memory, as SQLite's tests do.

use std::cell::Cell;

thread_local! {
    /// Number of requests of this thread until one is refused; all later ones are, too.
    static UNTIL_REFUSED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs `work` with the n-th request of this thread and all later ones refused. Returns whether any
/// was.
pub fn refusing_from<T>(n: usize, work: impl FnOnce() -> T) -> (T, bool) {
    UNTIL_REFUSED.set(Some(n));
    let result = work();
    let refused = UNTIL_REFUSED.take() == Some(0);
    (result, refused)
}

/// Counts a request. Returns whether it is refused.
pub fn refuses() -> bool {
    match UNTIL_REFUSED.get() {
        None => false,
        Some(0) => true,
        Some(left) => {
            UNTIL_REFUSED.set(Some(left - 1));
            left == 1
        }
    }
}
