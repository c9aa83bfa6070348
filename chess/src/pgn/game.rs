//! A game's main line with its comments.

use anyhow::{Result, ensure};
use cozy_chess::Move;

use super::builder::{GameBuilder, Line};
use super::outcome::Outcome;
use super::tags::Tags;
use crate::position::Position;

/// Maximum size of a game's comments, in bytes. A game without an end must not fill the memory.
const MOST_TEXT: usize = 1 << 26;

/// A game's main line.
#[derive(Clone, Debug)]
pub struct Game {
    /// The tags.
    pub tags: Tags,
    /// The position of the `FEN` tag, or the standard starting position.
    pub start: Position,
    /// Comments before the first move.
    pub comments: Vec<String>,
    /// The moves, all legal.
    pub moves: Vec<GameMove>,
    /// Size of the comments, in bytes.
    text: usize,
}

/// A move with the comments that follow it.
#[derive(Clone, Debug)]
pub struct GameMove {
    /// The move.
    pub mv: Move,
    /// The comments, without line breaks.
    pub comments: Vec<String>,
}

impl Game {
    /// The result in the `Result` tag; `None` if the game is not finished.
    pub fn result(&self) -> Option<Outcome> {
        self.tags.get("Result").and_then(Outcome::from_pgn)
    }

    /// The position after the last move, with the game's history.
    pub fn last_position(&self) -> Position {
        let mut position = self.start.clone();
        self.moves.iter().for_each(|played| position.play(played.mv));
        position
    }
}

impl GameBuilder for Game {
    type Game = Self;

    const VARIATIONS: bool = false;

    fn begin(tags: Tags, start: Position) -> Self {
        Self { tags, start, comments: Vec::new(), moves: Vec::new(), text: 0 }
    }

    fn play(&mut self, line: &Line) -> Result<()> {
        let played = line.after.mv.map(|mv| GameMove { mv, comments: Vec::new() });
        self.moves.extend(played);
        Ok(())
    }

    fn comment(&mut self, _: &Line, text: &str) -> Result<()> {
        // An empty comment takes up memory, too.
        self.text += text.len() + size_of::<String>();
        ensure!(self.text <= MOST_TEXT, "more than {MOST_TEXT} bytes of comments in one game");
        let last = self.moves.last_mut().map_or(&mut self.comments, |last| &mut last.comments);
        last.push(text.to_owned());
        Ok(())
    }

    fn end(self) -> Self {
        self
    }
}
