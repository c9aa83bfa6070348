//! A sample of the leaves: positions on which quiescence search stands pat, whose scores are what the whole tree is
//! made of.

use cozy_chess::Board;

/// Takes every n-th leaf.
pub(super) struct LeafSampler {
    every: u64,
    seen: u64,
    taken: Vec<Board>,
}

impl LeafSampler {
    /// Takes one of `every` leaves.
    pub(super) fn new(every: u64) -> Self {
        Self { every: every.max(1), seen: 0, taken: Vec::new() }
    }

    /// Quiescence search stands pat on `board`.
    pub(super) fn visit(&mut self, board: &Board) {
        self.seen += 1;
        if self.seen.is_multiple_of(self.every) {
            self.taken.push(board.clone());
        }
    }

    /// The leaves taken since the last call.
    pub(super) fn take(&mut self) -> Vec<Board> {
        std::mem::take(&mut self.taken)
    }
}
