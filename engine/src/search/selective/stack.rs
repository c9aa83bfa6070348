//! The search stack: a thread's data for each ply of the current line.

use cozy_chess::{BitBoard, Move};

use super::correction::CorrectionPlaces;
use super::history::MadeMove;
use super::move_picker::ScoredMove;
use super::score::Score;

/// Maximum ply of a line.
pub(super) const MAX_PLY: usize = 128;

#[derive(Default)]
pub(super) struct StackEntry {
    /// The move made here; `None` for a null move.
    pub(super) moved: Option<MadeMove>,
    /// The encoder's score of the position; `None` in check.
    pub(super) encoded: Option<Score>,
    /// The encoder's score plus the correction history's correction.
    pub(super) static_eval: Option<Score>,
    /// The slots of that correction.
    pub(super) correction: Option<CorrectionPlaces>,
    /// Squares that the opponent attacks.
    pub(super) threats: BitBoard,
    /// A hash of the pawns.
    pub(super) pawns: usize,
    /// Reduction of the move made here, in plies.
    pub(super) reduction: i32,
    /// Beta cutoffs at this ply since the node two plies before was entered.
    pub(super) cutoffs: u32,
    /// Quiet moves that caused a cutoff in siblings of this position.
    pub(super) killers: [Option<Move>; 2],
    /// The move excluded by a singular search.
    pub(super) excluded_move: Option<Move>,
    /// Reused memory for the move list.
    pub(super) moves: Vec<ScoredMove>,
    /// Reused memory for the moves that caused no cutoff.
    pub(super) failed: Vec<ScoredMove>,
    /// The principal variation from here on.
    pub(super) pv: Vec<Move>,
}
