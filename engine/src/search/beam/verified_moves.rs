//! The verified values of moves, to explain which moves the beam kept. Each is exact, by a search
//! to the horizon of the last search's verification, with its tables.

use anyhow::Result;
use azimuth_chess::position::{Position, board_after, repetition_key};
use cozy_chess::Move;

use super::verifier::MOST_PLIES;
use crate::search::explanation::VerifiedMove;
use crate::search::selective::{INFINITE, ShallowSearch};
use crate::search::tablebase::Tablebases;
use crate::search::terminal;

/// The verified values of legal moves of `position`, `ply` plies from the root, in the order of
/// `moves`, by searches to `horizon` plies from the root.
pub(super) fn verified_moves(
    mut search: ShallowSearch<'_>,
    tablebases: Option<&Tablebases>,
    position: &Position,
    (ply, horizon): (u32, u32),
    moves: &[Move],
) -> Result<Vec<VerifiedMove>> {
    let board = position.board();
    let keys = [position.history(), &[repetition_key(board)]].concat();
    search.enter(board, ply, keys.clone(), &[]);
    let mut verified = Vec::with_capacity(moves.len());
    for &mv in moves {
        let child = board_after(board, mv);
        let exact = terminal::terminal_value(&child, ply + 1, &keys)
            .or_else(|| tablebases?.value(&child, ply + 1));
        verified.push(match exact {
            Some(value) => VerifiedMove { value: -value, plies: 0, line: Vec::new() },
            None => {
                let plies = horizon.saturating_sub(ply + 1).min(MOST_PLIES);
                let score = search.score(board, mv, &child, (-INFINITE, INFINITE), plies);
                let mut end = child;
                search.line().iter().for_each(|&mv| end.play_unchecked(mv));
                search.lengthen_line(end, score);
                VerifiedMove { value: -search.value_of(score), plies, line: search.line().to_vec() }
            }
        });
    }
    search.take_error().map_or(Ok(verified), Err)
}
