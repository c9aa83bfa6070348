//! The parts of a game, [`GameBuilder`], which the reader calls with each part, and [`Game`], the
//! builder of a main line with its comments.

use std::fmt;

use anyhow::{Result, ensure};
use cozy_chess::{Board, Color, Move};

use crate::position::{Ending, Position};
use crate::text::printable;

/// A game that cannot be read. The games after it can be read.
#[derive(Debug)]
pub struct BadGame {
    /// The game's number in the input, from 1.
    pub number: u64,
    /// Why it cannot be read.
    pub fault: Fault,
}

/// Why a game cannot be read.
#[derive(Debug)]
pub enum Fault {
    /// The `Variant` tag, in lower case, names a variant with other rules than chess.
    Variant(String),
    /// The half-move with this number in its line, from 1, is no legal move, for this reason. The
    /// moves before it are legal.
    Move(u32, String),
    /// The starting position is not legal, the game exceeds a limit that no real game reaches, or
    /// the [`GameBuilder`] refused it.
    Refused(anyhow::Error),
}

impl fmt::Display for BadGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "game {}: {}", self.number, self.fault)
    }
}

impl std::error::Error for BadGame {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variant(variant) => {
                write!(f, "the variant '{}' is not chess", printable(variant))
            }
            Self::Move(half_move, reason) => write!(f, "half-move {half_move}: {reason}"),
            Self::Refused(error) => write!(f, "{error:#}"),
        }
    }
}

impl std::error::Error for Fault {}

/// The tags of a game, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags(Vec<(String, String)>);

impl Tags {
    /// The value of the last tag of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// As [`Self::get`], but `None` if the value is empty or `?`, which PGN uses for unknown
    /// values.
    pub fn known(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|value| !value.is_empty() && *value != "?")
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a tag at the end.
    pub(super) fn push(&mut self, name: String, value: String) {
        self.0.push((name, value));
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `1-0`.
    WhiteWins,
    /// `0-1`.
    BlackWins,
    /// `1/2-1/2`.
    Draw,
}

impl Outcome {
    /// The outcome in which `side` wins.
    pub fn win_of(side: Color) -> Self {
        match side {
            Color::White => Self::WhiteWins,
            Color::Black => Self::BlackWins,
        }
    }

    /// The notation of PGN.
    pub fn as_pgn(self) -> &'static str {
        match self {
            Self::WhiteWins => "1-0",
            Self::BlackWins => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }

    /// Parses the notation of [`Self::as_pgn`]; `None` for any other text, such as PGN's `*`.
    pub fn from_pgn(text: &str) -> Option<Self> {
        [Self::WhiteWins, Self::BlackWins, Self::Draw]
            .into_iter()
            .find(|outcome| outcome.as_pgn() == text)
    }

    /// White's score in half points, from 0 to 2.
    pub fn white_half_points(self) -> usize {
        match self {
            Self::WhiteWins => 2,
            Self::Draw => 1,
            Self::BlackWins => 0,
        }
    }
}

impl Ending {
    /// The result of the game.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Checkmate { winner } => Outcome::win_of(winner),
            _ => Outcome::Draw,
        }
    }
}

/// Builds a value from one game while the reader plays its moves.
pub trait GameBuilder: Sized {
    /// The value.
    type Game;

    /// Whether variations are read. Without them the moves are those of the main line.
    const VARIATIONS: bool;

    /// Whether null moves are played. Otherwise, they are faults.
    const NULL_MOVES: bool = false;

    /// A game begins.
    fn begin(tags: Tags, start: Position) -> Self;

    /// These castling rights of the `FEN` tag are dropped, for want of king or rook.
    fn dropped_rights(&mut self, _rights: String) {}

    /// The last move of `line` was played; it is `None` if it is a null move. An error ends the
    /// reading of this game.
    fn play(&mut self, line: &Line) -> Result<()>;

    /// A comment after the last move of `line`, or before the first move. Its line breaks are
    /// replaced by spaces, and a comment of many kilobytes arrives in several pieces. An error ends
    /// the reading of this game.
    fn comment(&mut self, line: &Line, text: &str) -> Result<()>;

    /// A numeric annotation glyph (NAG) after the last move of `line`: 1 is `!`, 2 is `?`.
    fn glyph(&mut self, _line: &Line, _nag: u8) {}

    /// The text has a result at its end. If it has several, the first one counts.
    fn result(&mut self, _outcome: Outcome) {}

    /// A word of a variation is no legal move. If this is no error, the variation ends before it;
    /// otherwise, the game does.
    fn forgive(&mut self, fault: Fault) -> Result<(), Fault> {
        Err(fault)
    }

    /// The game ends before a word that is no legal move. By default, it then cannot be read.
    fn cut(self, fault: BadGame) -> Result<Self::Game, BadGame> {
        Err(fault)
    }

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
    /// The move that leads to the node; `None` at the starting position and after a null move.
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

/// Maximum size of a game's comments, in bytes. A game without an end must not fill the memory.
const MOST_TEXT: usize = 1 << 26;

/// A game's main line.
#[derive(Debug)]
pub struct Game {
    /// The tags.
    pub tags: Tags,
    /// The position of the `FEN` tag, or the standard starting position.
    pub start: Position,
    /// The castling rights of the `FEN` tag that are dropped, for want of king or rook.
    pub dropped_rights: Option<String>,
    /// Comments before the first move.
    pub comments: Vec<String>,
    /// The moves, all legal.
    pub moves: Vec<GameMove>,
    /// The result at the end of the moves.
    outcome: Option<Outcome>,
    /// The fault before which the moves end, if the text has one.
    pub fault: Option<BadGame>,
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
    /// The result in the `Result` tag, otherwise that at the end of the moves; `None` if the game is
    /// not finished.
    pub fn result(&self) -> Option<Outcome> {
        self.tags.get("Result").and_then(Outcome::from_pgn).or(self.outcome)
    }

    /// This game, if it has no fault.
    pub fn complete(mut self) -> Result<Self, BadGame> {
        self.fault.take().map_or(Ok(self), Err)
    }
}

impl GameBuilder for Game {
    type Game = Self;

    const VARIATIONS: bool = false;

    fn begin(tags: Tags, start: Position) -> Self {
        Self {
            tags,
            start,
            dropped_rights: None,
            comments: Vec::new(),
            moves: Vec::new(),
            outcome: None,
            fault: None,
            text: 0,
        }
    }

    fn dropped_rights(&mut self, rights: String) {
        self.dropped_rights = Some(rights);
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

    fn result(&mut self, outcome: Outcome) {
        self.outcome.get_or_insert(outcome);
    }

    fn cut(mut self, fault: BadGame) -> Result<Self, BadGame> {
        self.fault = Some(fault);
        Ok(self)
    }

    fn end(self) -> Self {
        self
    }
}
