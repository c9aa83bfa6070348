//! Counts the batches of an inference thread, second by second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The batches that began within one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchSecond {
    /// Whole seconds since the start of the thread.
    pub second: u64,
    /// Number of batches.
    pub batches: u64,
    /// Number of requests in all of them. A search with many positions sends several.
    pub requests: u64,
    /// Number of positions in all of them, without padding.
    pub positions: u64,
    /// Number of positions in the largest batch.
    pub largest: usize,
}

/// The work of an inference thread.
pub(super) struct BatchLog {
    began: Instant,
    /// Nanoseconds in which at least one batch was in progress.
    busy: AtomicU64,
    /// Only seconds with batches, in order.
    seconds: Mutex<Vec<BatchSecond>>,
}

impl BatchLog {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), busy: AtomicU64::new(0), seconds: Mutex::default() }
    }

    pub(super) fn busy(&self) -> Duration {
        Duration::from_nanos(self.busy.load(Ordering::Relaxed))
    }

    pub(super) fn add_busy(&self, time: Duration) {
        self.busy.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Counts a batch that begins now.
    pub(super) fn add(&self, requests: usize, positions: usize) {
        let second = self.began.elapsed().as_secs();
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        if seconds.last().is_none_or(|last| last.second != second) {
            seconds.push(BatchSecond { second, ..BatchSecond::default() });
        }
        if let Some(last) = seconds.last_mut() {
            last.batches += 1;
            last.requests += requests as u64;
            last.positions += positions as u64;
            last.largest = last.largest.max(positions);
        }
    }

    pub(super) fn seconds(&self) -> Vec<BatchSecond> {
        self.seconds.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
