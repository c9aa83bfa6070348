//! What alpha-beta needs to know of positions.

use std::cmp::Ordering;

use anyhow::Result;
use cozy_chess::{Board, Move};

/// Tells positions apart, all from White's view.
pub trait Judge: Send {
    /// What a position is known by.
    type Leaf: Clone + Send;

    /// The search goes to `board`, from the board that it entered last, or from nowhere: then it is a root.
    fn enter(&mut self, _from: Option<&Board>, _board: &Board) {}

    /// It goes back from the board that it entered last.
    fn leave(&mut self) {}

    /// What the positions after moves of `parent`, the board entered last, are known by. None is over.
    fn leaves(&mut self, parent: &Board, children: &[(Move, Board)]) -> Result<Vec<Self::Leaf>>;

    /// What a position on its own is known by. It is not over.
    fn leaf(&mut self, board: &Board) -> Result<Self::Leaf>;

    /// Which of two is better for White: `Greater` where `a` is.
    fn compare(&mut self, a: &Self::Leaf, b: &Self::Leaf) -> Result<Ordering>;

    /// Whether a position is better for White than a draw.
    fn compare_with_draw(&mut self, leaf: &Self::Leaf) -> Result<Ordering>;

    /// White's expected score, in [-1, 1].
    fn value(&mut self, leaf: &Self::Leaf) -> Result<f32>;
}
