//! Candidate moves: returned by the move picker, not yet pruned, reduced or searched.

use super::move_picker::ScoredMove;

/// A move to be searched next.
pub(super) struct CandidateMove {
    pub(super) scored: ScoredMove,
    pub(super) gives_check: bool,
    /// Its number among the moves searched at this node, starting at 1.
    pub(super) move_count: i32,
    /// Quiet moves searched before it.
    pub(super) quiet_count: i32,
}
