//! What the search made of positions with the same pawns, for the encoder's score of the next one.

use cozy_chess::{Board, Color, Piece};

use super::score::Score;

/// Entries of either side.
const SIZE: usize = 1 << 14;

/// Parts of a centipawn.
const GRAIN: i32 = 256;

/// Largest correction, in centipawns.
const LIMIT: i32 = 64;

/// Mean differences between the score of a search and the position's own.
pub(super) struct Corrections(Vec<i32>);

impl Corrections {
    pub(super) fn new() -> Self {
        Self(vec![0; Color::NUM * SIZE])
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// What to add to the own score of `board`.
    pub(super) fn of(&self, board: &Board) -> Score {
        self.0[place(board)] / GRAIN
    }

    /// Learns that a search of `depth` plies came out `difference` above the own score.
    pub(super) fn learn(&mut self, board: &Board, depth: i32, difference: Score) {
        let mean = &mut self.0[place(board)];
        let weight = (depth + 1).min(16);
        *mean = (*mean * (256 - weight) + difference.clamp(-400, 400) * GRAIN * weight) / 256;
        *mean = (*mean).clamp(-LIMIT * GRAIN, LIMIT * GRAIN);
    }
}

fn place(board: &Board) -> usize {
    let [white, black] = Color::ALL.map(|color| board.colored_pieces(color, Piece::Pawn).0);
    let mixed = (white ^ black.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    board.side_to_move() as usize * SIZE + (mixed >> 50) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_follow_the_search_within_their_limit() {
        let board = Board::default();
        let mut corrections = Corrections::new();
        corrections.learn(&board, 15, 32);
        assert_eq!(corrections.of(&board), 2);
        (0..1000).for_each(|_| corrections.learn(&board, 15, 400));
        assert_eq!(corrections.of(&board), LIMIT);
        (0..1000).for_each(|_| corrections.learn(&board, 15, -30));
        assert!((-30..-25).contains(&corrections.of(&board)), "{}", corrections.of(&board));
    }
}
