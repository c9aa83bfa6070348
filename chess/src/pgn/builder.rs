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

    /// A game begins.
    fn begin(tags: Tags, start: Position) -> Self;

    /// The last move of `line` was played. An error ends the reading of this game.
    fn play(&mut self, line: &Line) -> Result<()>;

    /// A comment after the last move of `line`, or before the first move. Line breaks are spaces, and
    /// a comment of many kilobytes comes in several pieces. An error ends the reading of this game.
    fn comment(&mut self, line: &Line, text: &str) -> Result<()>;

    /// The game has ended.
    fn end(self) -> Self::Game;
}

/// A place in a game's tree of moves.
#[derive(Clone, Debug)]
pub struct Node {
    /// The board there.
    pub board: Board,
    /// Its number in the game, in the order of the file; the start is 0.
    pub id: u32,
    /// Half-moves from the start.
    pub ply: u32,
    /// The move that leads there; none at the start.
    pub mv: Option<Move>,
}

/// The last two places of the line that is being read.
///
/// They are the same place before the first move, and before the first move of a variation: there
/// both are the position before the move that the variation replaces.
#[derive(Clone, Debug)]
pub struct Line {
    /// Before the last move. A variation begins here.
    pub before: Node,
    /// After the last move.
    pub after: Node,
}
