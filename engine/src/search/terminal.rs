//! Terminal positions: the game is over or drawn, so the value is exact.

use azimuth_chess::position::{insufficient_material, repetition_key};
use cozy_chess::Board;

use super::value::Value;

/// The value of a finished game: mate, stalemate, the 50-move rule, insufficient material, or a
/// repetition. A position that occurred after the root counts as drawn at its second occurrence, an
/// earlier one at its third. `keys` are those of the previous positions, the last one 1 ply back,
/// as far back as the position can repeat them; `ply` counts from the root.
pub fn terminal_value(board: &Board, ply: u32, keys: &[u64]) -> Option<Value> {
    if !board.generate_moves(|_| true) {
        let mated = !board.checkers().is_empty();
        return Some(if mated { Value::mated_in(ply) } else { Value::DRAW });
    }
    is_drawn(board, ply, keys).then_some(Value::DRAW)
}

/// Whether a position is drawn other than by stalemate, with arguments as for [`terminal_value`];
/// at the hundredth half-move, mate takes precedence.
pub(super) fn is_drawn(board: &Board, ply: u32, keys: &[u64]) -> bool {
    let clock = usize::from(board.halfmove_clock());
    if insufficient_material(board) {
        return true;
    }
    if clock >= 100 {
        return board.checkers().is_empty() || board.generate_moves(|_| true);
    }
    if clock < 4 {
        return false;
    }
    let key = repetition_key(board);
    // Only every second position has the same side to move.
    let mut repeats = (4..=clock.min(keys.len()))
        .step_by(2)
        .filter(|distance| keys[keys.len() - distance] == key);
    let latest = repeats.next();
    latest.is_some_and(|latest| latest <= ply as usize || repeats.next().is_some())
}
