//! The interface between alpha-beta and the rivals that judge positions.

use std::cmp::Ordering;

use anyhow::Result;
use cozy_chess::{Board, Move};

/// Compares positions, from White's point of view.
pub trait Judge: Send {
    /// The representation of a position that is compared: a value, or a code.
    type Leaf: Clone + Send;

    /// Number of positions to judge at a time. A network is faster on several positions together,
    /// but after a cutoff the search discards the rest of them.
    fn at_once(&self) -> usize {
        1
    }

    /// The search enters `board`, a child of `_from`. `None` means that `board` is the root.
    fn enter(&mut self, _from: Option<&Board>, _board: &Board) {}

    /// The search leaves the board that it entered last.
    fn leave(&mut self) {}

    /// The representations of `children`: moves of `parent`, the board entered last, with the
    /// positions after them. The game is not over in any of these positions.
    fn leaves(&mut self, parent: &Board, children: &[(Move, Board)]) -> Result<Vec<Self::Leaf>>;

    /// The representation of a single position, in which the game is not over.
    fn leaf(&mut self, board: &Board) -> Result<Self::Leaf>;

    /// The order of two positions: `Greater` if `a` is better for White.
    fn compare(&mut self, a: &Self::Leaf, b: &Self::Leaf) -> Result<Ordering>;

    /// The order of a position and a draw: `Greater` if the position is better for White.
    fn compare_with_draw(&mut self, leaf: &Self::Leaf) -> Result<Ordering>;

    /// White's expected score, in [-1, 1].
    fn value(&mut self, leaf: &Self::Leaf) -> Result<f32>;
}
