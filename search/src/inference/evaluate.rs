//! The interface between a search and the evaluator of its positions, and the simpler one of
//! evaluators that do not use batches.

use std::time::Duration;

use anyhow::Result;
use cozy_chess::Board;

use super::evaluator::PositionKey;

/// Constant properties of an evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluateAttributes {
    /// Whether the calling thread evaluates positions, so that a search gains nothing from asking
    /// for several at once.
    pub immediate: bool,
    /// Number of positions from which on larger batches gain little.
    pub recommended_batch: usize,
    /// The part of a position that the value depends on.
    pub key: PositionKey,
}

/// Evaluates positions for one thread of a search. A value is `2p - 1`, in [-1, 1], of the win
/// probability p of the side to move.
///
/// A search asks for one position at a time, [`Self::evaluate`], or for several: it calls
/// [`Self::enqueue`] for each and [`Self::collect`] for the values.
pub trait Evaluate: Send {
    /// Its properties.
    fn attributes(&self) -> EvaluateAttributes;

    /// The value of `board`. No position may be enqueued. Fails where a device does.
    fn evaluate(&mut self, board: &Board) -> Result<f32>;

    /// Asks for the value of `board`. After an error no position is enqueued.
    fn enqueue(&mut self, board: &Board) -> Result<()>;

    /// Waits for the values of all positions enqueued since the last call, in their order. After an
    /// error no position is enqueued.
    fn collect(&mut self) -> Result<Vec<f32>>;

    /// Time spent waiting for another thread or a device.
    fn waited(&self) -> Duration {
        Duration::ZERO
    }
}

/// Evaluates one position at a time, on the calling thread.
pub trait EvaluateOne: Send {
    /// The part of a position that the value depends on.
    fn key(&self) -> PositionKey {
        PositionKey::WithEnPassant
    }

    /// The value of `board`: `2p - 1`, in [-1, 1], of the win probability p of its side to move.
    fn evaluate(&mut self, board: &Board) -> Result<f32>;
}

/// An [`EvaluateOne`] as an [`Evaluate`].
pub struct OneByOne<E> {
    pub evaluator: E,
    /// Values of the enqueued positions.
    pub values: Vec<f32>,
}

impl<E: EvaluateOne> Evaluate for OneByOne<E> {
    fn attributes(&self) -> EvaluateAttributes {
        EvaluateAttributes { immediate: true, recommended_batch: 1, key: self.evaluator.key() }
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        self.evaluator.evaluate(board)
    }

    fn enqueue(&mut self, board: &Board) -> Result<()> {
        let value = self.evaluator.evaluate(board).inspect_err(|_| self.values.clear())?;
        self.values.push(value);
        Ok(())
    }

    fn collect(&mut self) -> Result<Vec<f32>> {
        Ok(std::mem::take(&mut self.values))
    }
}
