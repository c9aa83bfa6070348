//! Parallel processing of independent items.

use std::panic::resume_unwind;
use std::thread;

/// The results of `work` on every item, in order. Each item gets a thread, except the first, which
/// the calling thread processes.
pub fn side_by_side<T: Send, R: Send>(
    mut items: Vec<T>,
    work: impl Fn(usize, T) -> R + Sync,
) -> Vec<R> {
    let work = &work;
    thread::scope(|scope| {
        let others = items.split_off(items.len().min(1)).into_iter().zip(1..);
        let threads: Vec<_> =
            others.map(|(item, place)| scope.spawn(move || work(place, item))).collect();
        let first = items.into_iter().map(|item| work(0, item)).collect::<Vec<_>>();
        let joined =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|e| resume_unwind(e)));
        first.into_iter().chain(joined).collect()
    })
}
