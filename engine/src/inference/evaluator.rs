//! What a search talks to: positions are answered from the cache at once or queued, the queue goes
//! to the worker in batches while the search prepares more, and no position is scored twice.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Result;
use azimuth_network::{InputKind, Inputs, Perspective};
use cozy_chess::{Board, Color};

use super::cache::ScoreCache;
use super::request::PendingResponse;
use super::worker::{Client, Worker};

/// Values, in [-1, 1] for the side to move, of positions: `2p - 1` of the calibrated win
/// probability.
pub struct Evaluator {
    client: Client,
    cache: Arc<ScoreCache>,
    /// Places of the positions that wait in the queue, by their keys; kept only where waiting is long.
    pending: HashMap<u64, usize>,
    queue: Inputs,
    /// Boards' keys and sides to move in the order of the queue and of the batches before it.
    queued: Vec<Queued>,
    in_flight: VecDeque<PendingResponse>,
    spare: Vec<Inputs>,
    /// Positions that this evaluator and those for its other threads have scored.
    scored: Arc<AtomicU64>,
    waited: Duration,
}

struct Queued {
    key: u64,
    side_to_move: Color,
}

/// A value known at once, or where it will be found after [`Evaluator::finish`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lookup {
    /// Found in the cache.
    Known(f32),
    /// The index of the position's value in what [`Evaluator::finish`] returns.
    Queued(usize),
}

impl Lookup {
    /// The value, given those that [`Evaluator::finish`] returned.
    pub fn value(self, finished: &[f32]) -> f32 {
        match self {
            Self::Known(value) => value,
            Self::Queued(index) => finished[index],
        }
    }
}

impl Evaluator {
    /// A search's evaluator with a cache of its own. Fails where memory for the cache is missing.
    pub fn new(worker: &Worker, cache_megabytes: usize) -> Result<Self> {
        let cache = Arc::new(ScoreCache::new(cache_megabytes)?);
        Ok(Self::sharing(worker, cache, Arc::default()))
    }

    /// This evaluator and others like it, one for each of a search's `threads`: what one has scored, all
    /// know.
    pub fn for_threads(self, worker: &Worker, threads: usize) -> Vec<Self> {
        let another = |_| Self::sharing(worker, self.cache.clone(), self.scored.clone());
        let others = (1..threads).map(another);
        let others: Vec<Self> = others.collect();
        std::iter::once(self).chain(others).collect()
    }

    fn sharing(worker: &Worker, cache: Arc<ScoreCache>, scored: Arc<AtomicU64>) -> Self {
        let client = worker.client();
        let queue = Inputs::new(client.attributes().input);
        Self {
            client,
            cache,
            pending: HashMap::new(),
            queue,
            queued: Vec::new(),
            in_flight: VecDeque::new(),
            spare: Vec::new(),
            scored,
            waited: Duration::ZERO,
        }
    }

    /// Whether the encoder runs on the thread of the search, so that nothing is gained by looking up
    /// many positions before [`Self::finish`].
    pub fn answers_at_once(&self) -> bool {
        self.client.runs_here()
    }

    /// Positions from which on larger batches gain little.
    pub fn recommended_batch(&self) -> usize {
        self.client.attributes().recommended_batch
    }

    /// Positions that the encoder scored, cache hits not counted, since the evaluator was made.
    pub fn scored(&self) -> u64 {
        self.scored.load(Relaxed)
    }

    /// Time spent waiting for batches on their way since the evaluator was made.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// How full the score cache is, in permille.
    pub fn permille_full(&self) -> usize {
        self.cache.permille_full()
    }

    /// Forgets all scores.
    pub fn clear_cache(&mut self) {
        self.cache.clear();
    }

    /// Says that [`Self::look_up`] of `board` will follow soon.
    pub fn prefetch(&self, board: &Board) {
        self.cache.prefetch(self.key(board));
    }

    /// Asks for the value of `board`.
    pub fn look_up(&mut self, board: &Board) -> Result<Lookup> {
        let key = self.key(board);
        if let Some(value) = self.cache.get(key) {
            return Ok(Lookup::Known(value));
        }
        let index = self.queued.len();
        if !self.answers_at_once() {
            if let Some(&waiting) = self.pending.get(&key) {
                return Ok(Lookup::Queued(waiting));
            }
            self.pending.insert(key, index);
        }
        self.queued.push(Queued { key, side_to_move: board.side_to_move() });
        self.queue.push(board);
        if self.queue.len() >= self.recommended_batch() {
            self.send()?;
        }
        Ok(Lookup::Queued(index))
    }

    /// The value of `board`, waited for. Nothing may be queued.
    pub fn value(&mut self, board: &Board) -> Result<f32> {
        let key = self.key(board);
        if let Some(value) = self.cache.get(key) {
            return Ok(value);
        }
        let Some(scorer) = self.client.scorer() else {
            return Ok(self.look_up(board)?.value(&self.finish()?));
        };
        self.queue.push(board);
        let p = scorer.score_one(&self.queue);
        self.queue.clear();
        let value = self.value_of(p?, board.side_to_move());
        self.cache.insert(key, value);
        self.scored.fetch_add(1, Relaxed);
        Ok(value)
    }

    /// The value for the side to move of a win probability in the encoder's perspective.
    fn value_of(&self, p: f32, side_to_move: Color) -> f32 {
        match (self.client.attributes().perspective, side_to_move) {
            (Perspective::White, Color::Black) => 1.0 - 2.0 * p,
            _ => 2.0 * p - 1.0,
        }
    }

    /// Waits for all queued positions and returns their values in the order of their indices.
    pub fn finish(&mut self) -> Result<Vec<f32>> {
        let outcome = self.collect();
        self.queued.clear();
        self.pending.clear();
        if outcome.is_err() {
            self.in_flight.clear();
            self.queue.clear();
        }
        outcome
    }

    fn collect(&mut self) -> Result<Vec<f32>> {
        if !self.queue.is_empty() {
            self.send()?;
        }
        let mut values = Vec::with_capacity(self.queued.len());
        while let Some(pending) = self.in_flight.pop_front() {
            let asked = Instant::now();
            let response = pending.wait()?;
            self.waited += asked.elapsed();
            self.spare.push(response.inputs);
            for p in response.win_probabilities? {
                let queued = &self.queued[values.len()];
                let value = self.value_of(p, queued.side_to_move);
                self.cache.insert(queued.key, value);
                values.push(value);
            }
        }
        self.scored.fetch_add(values.len() as u64, Relaxed);
        Ok(values)
    }

    fn send(&mut self) -> Result<()> {
        let mut next =
            self.spare.pop().unwrap_or_else(|| Inputs::new(self.client.attributes().input));
        next.clear();
        let pending = self.client.submit(std::mem::replace(&mut self.queue, next))?;
        self.in_flight.push_back(pending);
        Ok(())
    }

    /// Equal for positions that the encoder cannot tell apart.
    fn key(&self, board: &Board) -> u64 {
        match self.client.attributes().input {
            InputKind::Features(_) => board.hash_without_ep(),
            InputKind::Tokens => {
                let clocks =
                    u64::from(board.halfmove_clock()) << 16 | u64::from(board.fullmove_number());
                board.hash() ^ clocks.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            }
        }
    }
}
