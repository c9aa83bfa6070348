//! A node of the tree: its place, its window, and what is known of it before its moves are searched.

use super::score::Score;
use super::transposition_table::Entry;
use crate::search::bound::Bound;

/// How a position is searched.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// Plies from the root.
    pub(super) ply: usize,
    /// Plies to go.
    pub(super) depth: i32,
    /// Scores between these two are exact, others are bounds.
    pub(super) alpha: Score,
    pub(super) beta: Score,
    /// Whether the score is expected to reach `beta`.
    pub(super) cut_node: bool,
}

impl Node {
    /// Whether the window is more than a single step wide, as it is along the principal variation.
    pub(super) fn is_pv(&self) -> bool {
        self.beta - self.alpha > 1
    }

    /// The same position in a zero window just below `beta`.
    pub(super) fn in_zero_window(self, beta: Score, depth: i32) -> Self {
        Self { depth, alpha: beta - 1, beta, ..self }
    }

    /// Whether what the table knows is all that the window asks for.
    pub(super) fn is_cut_by(&self, entry: &Entry) -> bool {
        match entry.bound {
            Bound::Exact => true,
            Bound::Lower => entry.score >= self.beta,
            Bound::Upper => entry.score <= self.alpha,
        }
    }
}

/// What is known of a node before its moves are searched.
pub(super) struct NodeInfo {
    /// What the transposition table knows.
    pub(super) entry: Option<Entry>,
    /// The encoder's score of the position itself, corrected by what searches found; none in check.
    pub(super) static_eval: Option<Score>,
    /// Whether the position is or was on a principal variation.
    pub(super) was_pv: bool,
    /// Whether the table's move is a capture or promotion.
    pub(super) table_move_captures: bool,
    /// Whether the side to move stands better than at its last move.
    pub(super) improving: bool,
}
