//! Leaf sampling: collects positions in which quiescence search stands pat. Their static
//! evaluations are the scores that the search backs up.

use cozy_chess::Board;

/// Collects every n-th leaf.
pub(super) struct LeafSampler {
    every: u64,
    seen: u64,
    taken: Vec<Board>,
}

impl LeafSampler {
    /// Collects one of `every` leaves.
    pub(super) fn new(every: u64) -> Self {
        Self { every: every.max(1), seen: 0, taken: Vec::new() }
    }

    /// Called when quiescence search stands pat on `board`.
    pub(super) fn visit(&mut self, board: &Board) {
        self.seen += 1;
        if self.seen.is_multiple_of(self.every) {
            self.taken.push(board.clone());
        }
    }

    /// The leaves collected since the last call.
    pub(super) fn take(&mut self) -> Vec<Board> {
        std::mem::take(&mut self.taken)
    }
}
