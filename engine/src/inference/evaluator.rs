//! What a search talks to: positions are answered from the cache at once or queued, the queue goes
//! to the worker in batches while the search prepares more, and every position is scored once.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::Result;
use cozy_chess::{Board, Color};

use super::cache::{Known, ScoreCache};
use super::worker::{Client, Ticket, Worker};
use crate::encoder::{InputKind, Inputs, Perspective};

/// Values, in [-1, 1] for the side to move, of positions: `2p - 1` of the calibrated win
/// probability.
pub struct Evaluator {
    client: Client,
    cache: ScoreCache,
    queue: Inputs,
    /// Boards' keys and sides to move in the order of the queue and of the batches before it.
    queued: Vec<Queued>,
    in_flight: VecDeque<Ticket>,
    spare: Vec<Inputs>,
    scored: u64,
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

impl Evaluator {
    /// A search's evaluator with a cache of its own. Fails where memory for the cache is missing.
    pub fn new(worker: &Worker, cache_megabytes: usize) -> Result<Self> {
        let client = worker.client();
        let queue = Inputs::new(client.attributes().input);
        Ok(Self {
            client,
            cache: ScoreCache::new(cache_megabytes)?,
            queue,
            queued: Vec::new(),
            in_flight: VecDeque::new(),
            spare: Vec::new(),
            scored: 0,
            waited: Duration::ZERO,
        })
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
        self.scored
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
        match self.cache.get(key) {
            Some(Known::Score(value)) => return Ok(Lookup::Known(value)),
            Some(Known::Pending(index)) => return Ok(Lookup::Queued(index)),
            None => {}
        }
        let index = self.queued.len();
        self.cache.insert_pending(key, index);
        self.queued.push(Queued { key, side_to_move: board.side_to_move() });
        self.queue.push(board);
        if self.queue.len() >= self.recommended_batch() {
            self.send()?;
        }
        Ok(Lookup::Queued(index))
    }

    /// The value of `board`, waited for. Nothing may be queued.
    pub fn value(&mut self, board: &Board) -> Result<f32> {
        Ok(match self.look_up(board)? {
            Lookup::Known(value) => value,
            Lookup::Queued(place) => self.finish()?[place],
        })
    }

    /// Waits for all queued positions and returns their values in the order of their indices.
    pub fn finish(&mut self) -> Result<Vec<f32>> {
        let outcome = self.collect();
        self.queued.clear();
        if outcome.is_err() {
            self.in_flight.clear();
            self.queue.clear();
            self.cache.clear();
        }
        outcome
    }

    fn collect(&mut self) -> Result<Vec<f32>> {
        if !self.queue.is_empty() {
            self.send()?;
        }
        let mut values = Vec::with_capacity(self.queued.len());
        while let Some(ticket) = self.in_flight.pop_front() {
            let asked = Instant::now();
            let answer = ticket.redeem()?;
            self.waited += asked.elapsed();
            self.spare.push(answer.inputs);
            for p in answer.win_probabilities? {
                let queued = &self.queued[values.len()];
                let value = match (self.client.attributes().perspective, queued.side_to_move) {
                    (Perspective::White, Color::Black) => 1.0 - 2.0 * p,
                    _ => 2.0 * p - 1.0,
                };
                self.cache.insert(queued.key, value);
                values.push(value);
            }
        }
        self.scored += values.len() as u64;
        Ok(values)
    }

    fn send(&mut self) -> Result<()> {
        let mut next =
            self.spare.pop().unwrap_or_else(|| Inputs::new(self.client.attributes().input));
        next.clear();
        let ticket = self.client.submit(std::mem::replace(&mut self.queue, next))?;
        self.in_flight.push_back(ticket);
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
