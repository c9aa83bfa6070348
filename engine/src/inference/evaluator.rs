//! Evaluations for a search: from a cache, or from an [`Evaluate`] whose values are then cached.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use anyhow::Result;
use cozy_chess::Board;

use super::cache::ScoreCache;
use super::evaluate::{Evaluate, EvaluateAttributes};
use super::worker::Worker;

/// Values of positions for one thread of a search: `2p - 1`, in [-1, 1], of the win probability p
/// of the side to move.
pub struct Evaluator {
    source: Box<dyn Evaluate>,
    attributes: EvaluateAttributes,
    cache: Arc<ScoreCache>,
    /// Keys of the enqueued positions, in their order.
    keys: Vec<u64>,
    /// Indices of the enqueued positions by key; kept only where values are not immediate.
    pending: HashMap<u64, usize>,
    /// Numbers of positions evaluated by each thread of the search.
    scored: Arc<[Count]>,
    /// This thread's index in `scored`.
    thread: usize,
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
        let attributes = source.attributes();
        Self {
            source,
            attributes,
            cache,
            keys: Vec::new(),
            pending: HashMap::new(),
            scored,
            thread,
        }
    }

    /// Whether the search's thread evaluates positions itself, so that it gains nothing from asking
    /// for several before [`Self::finish`].
    pub fn answers_at_once(&self) -> bool {
        self.attributes.immediate
    }

    /// Number of positions from which on larger batches gain little.
    pub fn recommended_batch(&self) -> usize {
        self.attributes.recommended_batch
    }

    /// Number of positions evaluated by all threads, without those found in the cache.
    pub fn scored(&self) -> u64 {
        self.scored.iter().map(|count| count.0.load(Relaxed)).sum()
    }

    /// Time spent waiting for another thread or a device.
    pub fn waited(&self) -> Duration {
        self.source.waited()
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
        self.cache.prefetch(self.attributes.key.of(board));
    }

    /// Asks for the value of `board`. After an error nothing is queued.
    pub fn look_up(&mut self, board: &Board) -> Result<Lookup> {
        let key = self.attributes.key.of(board);
        if let Some(value) = self.cache.get(key) {
            return Ok(Lookup::Known(value));
        }
        let index = self.keys.len();
        if !self.answers_at_once() {
            if let Some(&waiting) = self.pending.get(&key) {
                return Ok(Lookup::Queued(waiting));
            }
            self.pending.insert(key, index);
        }
        self.keys.push(key);
        self.source.enqueue(board).inspect_err(|_| self.forget_queued())?;
        Ok(Lookup::Queued(index))
    }

    /// Waits for the value of `board`. Nothing may be queued.
    pub fn value(&mut self, board: &Board) -> Result<f32> {
        let key = self.attributes.key.of(board);
        if let Some(value) = self.cache.get(key) {
            return Ok(value);
        }
        let value = self.source.evaluate(board)?;
        self.cache.insert(key, value);
        self.scored[self.thread].add(1);
        Ok(value)
    }

    /// Waits for all queued positions and returns their values in the order of their indices.
    pub fn finish(&mut self) -> Result<Vec<f32>> {
        let outcome = self.source.collect();
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
