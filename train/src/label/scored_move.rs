//! A move and its label.

use cozy_chess::Move;

use crate::data::label::Label;

/// A move with the score of it, from White's view.
#[derive(Clone, Copy, Debug)]
pub struct ScoredMove {
    /// The move.
    pub mv: Move,
    /// Label of the position after it.
    pub label: Label,
}

/// What is to be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// All moves of a position, by `Labeller::score`.
    AllMoves,
    /// The position, by `Labeller::value`.
    Best,
}
