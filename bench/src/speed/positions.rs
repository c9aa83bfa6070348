//! The positions for the speed measurements.

use anyhow::Result;
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_chess::position::{Position, board_after, legal_moves};
use cozy_chess::Board;

pub fn roots() -> Result<Vec<Position>> {
    BENCH_POSITIONS.iter().map(|fen| Position::from_fen(fen)).collect()
}

/// Grandchildren of the roots, as in a search: neighbours in the tree are adjacent, and few
/// positions occur twice.
pub fn leaves(roots: &[Position]) -> Vec<Board> {
    roots
        .iter()
        .flat_map(|root| children(root.board()))
        .flat_map(|child| children(&child))
        .collect()
}

pub fn children(board: &Board) -> Vec<Board> {
    legal_moves(board).into_iter().map(|mv| board_after(board, mv)).collect()
}
