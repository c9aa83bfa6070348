//! A move and its label.

use cozy_chess::Move;

use crate::data::label::Label;

/// A move with its score.
#[derive(Clone, Copy, Debug)]
pub struct ScoredMove {
    /// The move.
    pub mv: Move,
    /// The label of the position after the move, from White's point of view.
    pub label: Label,
}

/// The kind of scores that an engine is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// Scores of all moves of a position, by `Labeller::score`.
    AllMoves,
    /// The score of the position, by `Labeller::value`.
    Best,
}
