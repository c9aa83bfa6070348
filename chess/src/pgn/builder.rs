//! The interface between the reader and the values that it builds from games.

use anyhow::Result;
use cozy_chess::{Board, Move};

use super::tags::Tags;
use crate::position::Position;

/// Builds a value from one game while the reader plays its moves.
pub trait GameBuilder: Sized {
    /// The value.
    type Game;

    /// Whether variations are read. Without them the moves are those of the main line.
    const VARIATIONS: bool;

    /// Whether a variation ends before its first illegal move. Otherwise, the game cannot be read.
    const FORGIVES_VARIATIONS: bool = false;

    /// A game begins.
    fn begin(tags: Tags, start: Position) -> Self;

    /// The last move of `line` was played. An error ends the reading of this game.
    fn play(&mut self, line: &Line) -> Result<()>;

    /// A comment after the last move of `line`, or before the first move. Its line breaks are
    /// replaced by spaces, and a comment of many kilobytes arrives in several pieces. An error ends
    /// the reading of this game.
    fn comment(&mut self, line: &Line, text: &str) -> Result<()>;

    /// A numeric annotation glyph (NAG) after the last move of `line`: 1 is `!`, 2 is `?`.
    fn glyph(&mut self, _line: &Line, _nag: u8) {}

    /// The game has ended.
    fn end(self) -> Self::Game;
}

/// A node of a game's move tree.
#[derive(Clone, Debug)]
pub struct GameNode {
    /// The position.
    pub board: Board,
    /// Index of the node in the order of the file; the starting position is 0.
    pub id: u32,
    /// Half-moves from the starting position.
    pub ply: u32,
    /// The move that leads to the node; `None` at the starting position.
    pub mv: Option<Move>,
}

/// The last two nodes of the line that is being read.
///
/// Before the first move, both are the starting position. Before the first move of a variation,
/// both are the position before the move that the variation replaces.
#[derive(Clone, Debug)]
pub struct Line {
    /// Before the last move. A variation begins here.
    pub before: GameNode,
    /// After the last move.
    pub after: GameNode,
}
