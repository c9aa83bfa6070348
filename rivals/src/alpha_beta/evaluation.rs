//! A [`Judge`] that compares positions by a number, their value to White.

use std::cmp::Ordering;

use anyhow::Result;
use cozy_chess::{Board, Move};

use super::judge::Judge;

/// Estimates the value of positions to White, in [-1, 1]; 0 is a draw.
pub trait Evaluates: Send {
    /// Number of positions to evaluate at a time, as in [`Judge::at_once`].
    fn at_once(&self) -> usize {
        1
    }

    /// The search enters `board`, a child of `_from`. `None` means that `board` is the root.
    fn enter(&mut self, _from: Option<&Board>, _board: &Board) {}

    /// The search leaves the board that it entered last.
    fn leave(&mut self) {}

    /// The values of `children`: moves of `parent`, the board entered last, with the positions
    /// after them. The game is not over in any of these positions.
    fn evaluate_children(&mut self, parent: &Board, children: &[(Move, Board)])
    -> Result<Vec<f32>>;

    /// The value of a single position, in which the game is not over.
    fn evaluate(&mut self, board: &Board) -> Result<f32>;
}

/// The [`Judge`] that compares positions by the values of an [`Evaluates`].
pub struct Evaluation<E>(pub E);

impl<E: Evaluates> Judge for Evaluation<E> {
    type Leaf = f32;

    fn at_once(&self) -> usize {
        self.0.at_once()
    }

    fn enter(&mut self, from: Option<&Board>, board: &Board) {
        self.0.enter(from, board);
    }

    fn leave(&mut self) {
        self.0.leave();
    }

    fn leaves(&mut self, parent: &Board, children: &[(Move, Board)]) -> Result<Vec<f32>> {
        self.0.evaluate_children(parent, children)
    }

    fn leaf(&mut self, board: &Board) -> Result<f32> {
        self.0.evaluate(board)
    }

    fn compare(&mut self, a: &f32, b: &f32) -> Result<Ordering> {
        Ok(a.total_cmp(b))
    }

    fn compare_with_draw(&mut self, leaf: &f32) -> Result<Ordering> {
        Ok(leaf.total_cmp(&0.0))
    }

    fn value(&mut self, leaf: &f32) -> Result<f32> {
        Ok(*leaf)
    }
}
