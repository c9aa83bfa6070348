//! The search stack: what a thread remembers of each ply of the line that it searches.

use cozy_chess::{BitBoard, Move};

use super::correction::CorrectionPlaces;
use super::history::MadeMove;
use super::move_picker::ScoredMove;
use super::score::Score;

/// Deepest ply of any line.
pub(super) const MAX_PLY: usize = 128;

/// One ply of the line.
#[derive(Default)]
pub(super) struct StackEntry {
    /// The move made here; `None` where the side to move passed.
    pub(super) moved: Option<MadeMove>,
    /// The encoder's score of the position itself; none in check.
    pub(super) encoded: Option<Score>,
    /// The same, corrected by what searches found.
    pub(super) static_eval: Option<Score>,
    /// Where that correction comes from.
    pub(super) correction: Option<CorrectionPlaces>,
    /// Squares that the other side attacks.
    pub(super) threats: BitBoard,
    /// The pawns, hashed.
    pub(super) pawns: usize,
    /// Plies by which the move made here was reduced.
    pub(super) reduction: i32,
    /// Cutoffs among the moves of this ply, since the position two plies before was reached.
    pub(super) cutoffs: u32,
    /// Quiet moves that caused a cutoff among the siblings of this position.
    pub(super) killers: [Option<Move>; 2],
    /// Left out by a singular search, to see what the position is worth without it.
    pub(super) excluded_move: Option<Move>,
    /// Memory for the moves.
    pub(super) moves: Vec<ScoredMove>,
    /// Memory for those that caused no cutoff.
    pub(super) failed: Vec<ScoredMove>,
    /// The principal variation from here on.
    pub(super) pv: Vec<Move>,
}
