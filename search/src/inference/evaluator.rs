//! Evaluations for a search: from a cache of scores by position, or from a model or
//! another evaluator, whose values are then cached.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

use anyhow::{Context, Result};
use bytemuck::Zeroable;
use cozy_chess::Board;

use super::worker::{PositionKey, ValueSource, Worker};
use crate::large_memory::{self, prefetch, slot_of};

/// Values of positions for one thread of a search: `2p - 1`, in [-1, 1], of the win probability p
/// of the side to move.
pub struct Evaluator {
    source: ValueSource,
    /// The part of a position that its value depends on.
    key: PositionKey,
    cache: Arc<ScoreCache>,
    /// Keys of the enqueued positions, in their order.
    keys: Vec<u64>,
    /// Indices of the enqueued positions by key.
    pending: HashMap<u64, usize>,
    /// Numbers of positions evaluated by each thread of the search.
    scored: Arc<[Count]>,
    /// This thread's index in `scored`.
    thread: usize,
}

impl Evaluator {
    /// A search's evaluator with its own cache. Fails if memory for the cache is missing.
    pub fn new(worker: &Worker, cache_megabytes: usize) -> Result<Self> {
        let cache = Arc::new(ScoreCache::new(cache_megabytes)?);
        Ok(Self::sharing(worker, cache, Arc::new([Count::default()]), 0))
    }

    /// Evaluators for all `threads` of a search, this one first. They share its cache.
    pub fn for_threads(self, worker: &Worker, threads: usize) -> Vec<Self> {
        let scored: Arc<[Count]> = (0..threads.max(1)).map(|_| Count::default()).collect();
        let another = |thread| Self::sharing(worker, self.cache.clone(), scored.clone(), thread);
        let others: Vec<Self> = (1..threads).map(another).collect();
        std::iter::once(Self { scored, ..self }).chain(others).collect()
    }

    fn sharing(
        worker: &Worker,
        cache: Arc<ScoreCache>,
        scored: Arc<[Count]>,
        thread: usize,
    ) -> Self {
        let source = worker.connect();
        let key = source.key();
        Self { source, key, cache, keys: Vec::new(), pending: HashMap::new(), scored, thread }
    }

    /// Whether the search's thread evaluates positions itself, so that it gains nothing from asking
    /// for several before [`Self::finish`].
    pub fn answers_at_once(&self) -> bool {
        !matches!(self.source, ValueSource::Thread(_))
    }

    /// Number of positions from which on larger batches gain little.
    pub fn recommended_batch(&self) -> usize {
        match &self.source {
            ValueSource::Thread(queue) => queue.attributes.recommended_batch,
            ValueSource::Here(_) | ValueSource::Other(_) => 1,
        }
    }

    /// Number of positions evaluated by all threads, without those found in the cache.
    pub fn scored(&self) -> u64 {
        self.scored.iter().map(|count| count.0.load(Relaxed)).sum()
    }

    /// Time spent waiting for another thread or a device.
    pub fn waited(&self) -> Duration {
        match &self.source {
            ValueSource::Thread(queue) => queue.waited(),
            ValueSource::Here(_) | ValueSource::Other(_) => Duration::ZERO,
        }
    }

    /// How full the cache is, in permille.
    pub fn permille_full(&self) -> usize {
        self.cache.permille_full()
    }

    /// Empties the cache.
    pub fn clear_cache(&mut self) {
        self.cache.clear();
    }

    /// Fetches the cache's slot for `board` into the processor's cache.
    pub fn prefetch(&self, board: &Board) {
        self.cache.prefetch(self.key.of(board));
    }

    /// Asks for the value of `board`. After an error nothing is queued.
    pub fn look_up(&mut self, board: &Board) -> Result<Lookup> {
        let key = self.key.of(board);
        if let Some(value) = self.cache.get(key) {
            return Ok(Lookup::Known(value));
        }
        let ValueSource::Thread(queue) = &mut self.source else {
            return self.evaluate(key, board).map(Lookup::Known);
        };
        if let Some(&waiting) = self.pending.get(&key) {
            return Ok(Lookup::Queued(waiting));
        }
        let index = self.keys.len();
        self.pending.insert(key, index);
        self.keys.push(key);
        queue.enqueue(board).inspect_err(|_| self.forget_queued())?;
        Ok(Lookup::Queued(index))
    }

    /// Waits for the value of `board`. Nothing may be queued.
    pub fn value(&mut self, board: &Board) -> Result<f32> {
        let key = self.key.of(board);
        self.cache.get(key).map_or_else(|| self.evaluate(key, board), Ok)
    }

    fn evaluate(&mut self, key: u64, board: &Board) -> Result<f32> {
        let value = self.source.value(board)?;
        self.cache.insert(key, value);
        self.scored[self.thread].add(1);
        Ok(value)
    }

    /// Waits for all queued positions and returns their values in the order of their indices.
    pub fn finish(&mut self) -> Result<Vec<f32>> {
        let ValueSource::Thread(queue) = &mut self.source else { return Ok(Vec::new()) };
        let outcome = queue.collect();
        if let Ok(values) = &outcome {
            self.keys.iter().zip(values).for_each(|(&key, &value)| self.cache.insert(key, value));
            self.scored[self.thread].add(values.len());
        }
        self.forget_queued();
        outcome
    }

    fn forget_queued(&mut self) {
        self.keys.clear();
        self.pending.clear();
    }
}

/// A value from the cache, or the index of a value that [`Evaluator::finish`] will return.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lookup {
    /// Found in the cache.
    Known(f32),
    /// The index of the position's value in the result of [`Evaluator::finish`].
    Queued(usize),
}

impl Lookup {
    /// The value, given the result of [`Evaluator::finish`].
    pub fn value(self, finished: &[f32]) -> f32 {
        match self {
            Self::Known(value) => value,
            Self::Queued(index) => finished[index],
        }
    }
}

/// A number that one thread changes and others read. Each has a cache line, so that threads do not
/// wait for each other.
#[derive(Default)]
#[repr(align(128))]
struct Count(AtomicU64);

impl Count {
    fn add(&self, more: usize) {
        self.0.store(self.0.load(Relaxed) + more as u64, Relaxed);
    }
}

#[derive(Zeroable)]
struct Entry {
    /// Key xor content.
    check: AtomicU64,
    /// The score's bits, and above them the generation that wrote it. An entry of another
    /// generation counts as empty.
    content: AtomicU64,
}

/// A cache with a fixed number of entries. It is kept across moves, and a new score replaces the
/// one in its slot. Threads share it without locks: if two threads each write one half of an entry,
/// the entry matches no key, as in Hyatt and Mann's lock-less table.
struct ScoreCache {
    entries: Box<[Entry]>,
    generation: AtomicU32,
}

impl ScoreCache {
    /// A cache of about `megabytes`. Fails where the system refuses that much memory.
    fn new(megabytes: usize) -> Result<Self> {
        let entries = large_memory::zeroed((megabytes << 20) / size_of::<Entry>())
            .with_context(|| format!("no memory for a score cache of {megabytes} MB"))?;
        Ok(Self { entries, generation: 1.into() })
    }

    /// The score under `key`.
    fn get(&self, key: u64) -> Option<f32> {
        let entry = &self.entries[self.slot(key)];
        let content = entry.content.load(Relaxed);
        let known = entry.check.load(Relaxed) ^ content == key && self.is_current(content);
        known.then_some(f32::from_bits(content as u32))
    }

    /// Fetches the slot of `key` from memory, so that [`Self::get`] need not wait for it.
    fn prefetch(&self, key: u64) {
        prefetch(&self.entries[self.slot(key)]);
    }

    /// Stores a score, and replaces the one in its slot.
    fn insert(&self, key: u64, score: f32) {
        let generation = self.generation.load(Relaxed);
        let content = u64::from(generation) << 32 | u64::from(score.to_bits());
        let entry = &self.entries[self.slot(key)];
        entry.check.store(key ^ content, Relaxed);
        entry.content.store(content, Relaxed);
    }

    /// Empties the cache by starting a new generation. The entries are overwritten only when the
    /// generation number wraps around, once in four billion calls.
    fn clear(&self) {
        if self.generation.fetch_add(1, Relaxed) == u32::MAX {
            self.entries.iter().for_each(|entry| entry.content.store(0, Relaxed));
            self.generation.store(1, Relaxed);
        }
    }

    /// How full the cache is, in permille, from its first thousand entries.
    fn permille_full(&self) -> usize {
        let sample = &self.entries[..self.entries.len().min(1000)];
        let used = sample.iter().filter(|entry| self.is_current(entry.content.load(Relaxed)));
        used.count() * 1000 / sample.len().max(1)
    }

    fn is_current(&self, content: u64) -> bool {
        (content >> 32) as u32 == self.generation.load(Relaxed)
    }

    fn slot(&self, key: u64) -> usize {
        slot_of(key, self.entries.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearing_forgets() -> Result<()> {
        let cache = ScoreCache::new(1)?;
        assert_eq!(cache.get(0), None);
        cache.insert(7, -0.5);
        assert_eq!((cache.get(7), cache.permille_full()), (Some(-0.5), 1));
        cache.clear();
        assert_eq!((cache.get(7), cache.permille_full()), (None, 0));
        Ok(())
    }

    #[test]
    fn the_newest_wins_its_slot() -> Result<()> {
        let cache = ScoreCache::new(1)?;
        cache.insert(1, 0.25);
        cache.insert(2, 0.75);
        assert_eq!((cache.get(1), cache.get(2)), (None, Some(0.75)));
        Ok(())
    }

    #[test]
    fn threads_read_nothing_that_was_not_written() -> Result<()> {
        let cache = ScoreCache::new(1)?;
        let score = |key: u64| key as f32 / 8.0;
        // Miri looks at the whole table at each access.
        let rounds = if cfg!(miri) { 16 } else { 100_000 };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    // All of these keys share one slot.
                    for key in (0..rounds).map(|round| round % 8) {
                        cache.insert(key, score(key));
                        assert!(cache.get(key).is_none_or(|found| found == score(key)));
                    }
                });
            }
        });
        Ok(())
    }
}
