//! `go perft`: counts the leaf nodes of the tree of legal moves, to test move generation.

use std::sync::atomic::{AtomicBool, Ordering};

use azimuth_chess::position::{Position, board_after, legal_moves, uci_move};
use cozy_chess::Board;

/// Maximum depth in plies. The count takes a stack frame for each ply, and the rules that end a
/// game do not end its lines, so a depth of many thousand plies would overflow the stack.
pub const MAX_PERFT_DEPTH: u32 = 128;

/// Counts the leaf nodes at `depth` plies (1 to [`MAX_PERFT_DEPTH`]); `None` if it is stopped. `say`
/// gets the count of each root move in Stockfish's format.
pub fn divide(
    root: &Position,
    depth: u32,
    chess960: bool,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Option<u64> {
    let board = root.board();
    let mut sum = 0;
    for mv in legal_moves(board) {
        let count = match depth {
            0 | 1 => 1,
            _ => count(&board_after(board, mv), depth - 1, stop)?,
        };
        say(&format!("{}: {count}", uci_move(board, mv, chess960)));
        sum += count;
    }
    Some(sum)
}

/// Leaf nodes at `depth` plies (at least 1). The moves of the last ply are counted without being
/// played.
fn count(board: &Board, depth: u32, stop: &AtomicBool) -> Option<u64> {
    let mut sum = 0;
    if depth == 1 {
        board.generate_moves(|moves| {
            sum += moves.len() as u64;
            false
        });
        return Some(sum);
    }
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    for mv in legal_moves(board) {
        sum += count(&board_after(board, mv), depth - 1, stop)?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, Result};

    use super::*;

    /// Lines of `FEN ;D1 20 ;D2 400`.
    const SUITE: &str = include_str!("../../../tests/data/perft.epd");

    /// Counts beyond this are left to slower tests.
    const MOST: u64 = 5_000_000;

    #[test]
    fn counts_are_those_of_the_suite() -> Result<()> {
        let mut compared = 0;
        for line in SUITE.lines() {
            let mut fields = line.split(" ;D");
            let root = Position::from_fen(fields.next().unwrap_or_default())?;
            for field in fields {
                let (depth, nodes) = field.trim().split_once(' ').context("depth and count")?;
                let (depth, nodes) = (depth.parse()?, nodes.parse()?);
                if nodes <= MOST {
                    let mut lines = 0;
                    let go_on = AtomicBool::new(false);
                    let counted = divide(&root, depth, true, &go_on, &mut |_| lines += 1);
                    assert_eq!(counted, Some(nodes), "{line}: {depth}");
                    assert_eq!(lines, legal_moves(root.board()).len());
                    compared += 1;
                }
            }
        }
        assert!(compared > 50, "only {compared} counts");
        Ok(())
    }
}
