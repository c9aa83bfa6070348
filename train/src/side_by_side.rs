//! Parallel processing of independent items.

use std::panic::resume_unwind;
use std::thread;

/// The results of `work` on every item, in order. The calling thread processes the first.
pub fn side_by_side<T: Send, R: Send>(mut items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let work = &work;
    thread::scope(|scope| {
        let others = items.split_off(items.len().min(1)).into_iter();
        let threads: Vec<_> = others.map(|item| scope.spawn(move || work(item))).collect();
        let first = items.into_iter().map(work).collect::<Vec<_>>();
        let joined =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|e| resume_unwind(e)));
        first.into_iter().chain(joined).collect()
    })
}
