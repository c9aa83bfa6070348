//! The static evaluation: the value of a position without a search.

use anyhow::Result;
use azimuth_chess::position::Position;

use super::terminal;
use super::value::Value;
use crate::inference::Evaluator;

/// The static evaluation of a position `ply` plies from the root; exact if the game is over.
pub(super) fn static_value(
    evaluator: &mut Evaluator,
    position: &Position,
    ply: u32,
) -> Result<Value> {
    let board = position.board();
    Ok(match terminal::terminal_value(board, ply, position.history()) {
        Some(value) => value,
        None => Value::estimate(evaluator.value(board)?),
    })
}
