//! Evaluators that do not use batches.

use anyhow::Result;
use cozy_chess::Board;

use super::evaluate::{Evaluate, EvaluateAttributes};
use super::position_key::PositionKey;

/// Evaluates one position at a time, on the calling thread. [`OneByOne`] turns it into an
/// [`Evaluate`].
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
    evaluator: E,
    /// Values of the enqueued positions.
    values: Vec<f32>,
}

impl<E> OneByOne<E> {
    /// Wraps `evaluator`.
    pub fn new(evaluator: E) -> Self {
        Self { evaluator, values: Vec::new() }
    }
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
