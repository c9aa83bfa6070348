//! A node of the search tree: depth, window, and the data known before its moves are searched.

use super::score::Score;
use super::transposition_table::Entry;
use crate::search::bound::Bound;

/// Ply, depth and window of the search of a position.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// Plies from the root.
    pub(super) ply: usize,
    /// Remaining plies.
    pub(super) depth: i32,
    /// Scores between `alpha` and `beta` are exact; others are bounds.
    pub(super) alpha: Score,
    pub(super) beta: Score,
    /// Whether the score is expected to be at least `beta`.
    pub(super) cut_node: bool,
}

impl Node {
    /// Whether the window is open, as it is on the principal variation, rather than a zero window.
    pub(super) fn is_pv(&self) -> bool {
        self.beta - self.alpha > 1
    }

    /// The same position with a zero window just below `beta`.
    pub(super) fn in_zero_window(self, beta: Score, depth: i32) -> Self {
        Self { depth, alpha: beta - 1, beta, ..self }
    }

    /// Whether the entry's score and bound settle the search in this window.
    pub(super) fn is_cut_by(&self, entry: &Entry) -> bool {
        match entry.bound {
            Bound::Exact => true,
            Bound::Lower => entry.score >= self.beta,
            Bound::Upper => entry.score <= self.alpha,
        }
    }
}

/// The data of a node that is known before its moves are searched.
pub(super) struct NodeInfo {
    /// The transposition table entry.
    pub(super) entry: Option<Entry>,
    /// The static evaluation: the encoder's score with correction history; `None` in check.
    pub(super) static_eval: Option<Score>,
    /// Whether the position is or was on a principal variation.
    pub(super) was_pv: bool,
    /// Whether the table move is a capture or promotion.
    pub(super) table_move_captures: bool,
    /// Whether the static evaluation is higher than at the side to move's last turn.
    pub(super) improving: bool,
}
