//! Move ordering: first the best move of the previous iteration, then captures of the most valuable
//! pieces by the least valuable (MVV-LVA).

use cozy_chess::{Board, Move, Piece};

/// Sorts the moves, the most promising first.
pub fn order(board: &Board, moves: &mut [Move], best_before: Option<Move>) {
    moves.sort_by_key(|&mv| std::cmp::Reverse((Some(mv) == best_before, gain(board, mv))));
}

/// The MVV-LVA score: 16 for each rank of the captured piece and of a promotion, less the rank of
/// the moving piece. 0 for other moves.
fn gain(board: &Board, mv: Move) -> i32 {
    let rank = |piece: Option<Piece>| piece.map_or(0, |piece| piece as i32 + 1);
    let opponents = board.colors(!board.side_to_move());
    let taken = if opponents.has(mv.to) { rank(board.piece_on(mv.to)) } else { 0 };
    let taken = taken + rank(mv.promotion);
    if taken == 0 { 0 } else { 16 * taken - rank(board.piece_on(mv.from)) }
}
