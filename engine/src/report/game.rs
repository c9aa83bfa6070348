//! Games in PGN with their variations, comments and glyphs, and the games that cannot be read.

use std::iter;
use std::path::Path;

use anyhow::{Context, Error, Result, anyhow, ensure};
use azimuth_chess::pgn::{
    BadGame, Fault, GameBuilder, Line, Outcome, Reader, Tags, open_text, pgn_files,
};
use azimuth_chess::position::{Position, castles_as_in_chess960, uci_move};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cozy_chess::Move;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

/// Maximum number of half-moves of a game, and of a line with a variation: the page can send as many
/// to the engine.
pub const LONGEST_GAME: u32 = 2_000;

/// Maximum number of half-moves with those of the variations.
const MOST_NODES: usize = 20_000;

/// Maximum size of a game's comments, in bytes.
const MOST_TEXT: usize = 1 << 24;

/// A game. The page reads its JSON.
#[derive(Debug, Default, Serialize)]
pub struct Game {
    #[serde(serialize_with = "pairs")]
    tags: Tags,
    /// The starting position.
    #[serde(rename = "fen", serialize_with = "fen")]
    pub start: Position,
    /// The castling rights of the FEN that were dropped, for want of king or rook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_rights: Option<String>,
    /// The result in the tags, otherwise that at the end of the moves.
    result: Option<&'static str>,
    /// The moves of the main line.
    #[serde(skip)]
    pub moves: Vec<Move>,
    /// Comments before the first move.
    pub comments: Vec<String>,
    /// All moves, in the order of the file.
    pub nodes: Vec<Node>,
    /// Comments before the first move of a variation that begins.
    #[serde(skip)]
    opening_comments: Vec<(u32, String)>,
    /// Number of the last node of the main line, from 1; 0 is the starting position.
    #[serde(skip)]
    tip: u32,
    /// The fault before which the moves end, if the text has one.
    #[serde(serialize_with = "fault", skip_serializing_if = "Option::is_none")]
    pub fault: Option<BadGame>,
    /// The first fault before which a variation ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    variation_fault: Option<String>,
    /// Size of the comments, in bytes.
    #[serde(skip)]
    text: usize,
}

/// A move of the main line or of a variation.
#[derive(Debug, Serialize)]
pub struct Node {
    /// Number of the node before it, from 1; 0 is the starting position.
    parent: u32,
    /// The move in UCI notation.
    uci: String,
    /// The comments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comments: Vec<String>,
    /// Numeric annotation glyphs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    glyphs: Vec<u8>,
}

impl Game {
    /// Number of positions of the main line, from the start to the end.
    pub fn positions(&self) -> u64 {
        self.moves.len() as u64 + 1
    }

    /// The SHA-256 of everything that the page shows of the game.
    pub fn digest(&self) -> Result<String> {
        Ok(STANDARD.encode(Sha256::digest(serde_json::to_vec(self)?)))
    }

    fn checked(self) -> Result<Self, Fault> {
        if !self.moves.is_empty() {
            return Ok(self);
        }
        let empty = || Fault::Refused(anyhow!("there is no move in it"));
        Err(self.fault.map_or_else(empty, |bad| bad.fault))
    }
}

impl GameBuilder for Game {
    type Game = Self;

    const VARIATIONS: bool = true;

    fn begin(tags: Tags, start: Position) -> Self {
        Self {
            result: tags.get("Result").and_then(Outcome::from_pgn).map(Outcome::as_pgn),
            tags,
            start,
            ..Self::default()
        }
    }

    fn dropped_rights(&mut self, rights: String) {
        self.dropped_rights = Some(rights);
    }

    fn play(&mut self, Line { before, after }: &Line) -> Result<()> {
        let Some(mv) = after.mv else { return Ok(()) };
        ensure!(after.ply <= LONGEST_GAME, "more than {LONGEST_GAME} half-moves in one game");
        ensure!(self.nodes.len() < MOST_NODES, "more than {MOST_NODES} moves with variations");
        if before.id == self.tip {
            self.moves.push(mv);
            self.tip = after.id;
        }
        // A comment of a variation without moves belongs to no move.
        let mut comments = std::mem::take(&mut self.opening_comments);
        comments.retain(|(parent, _)| *parent == before.id);
        self.nodes.push(Node {
            parent: before.id,
            uci: uci_move(&before.board, mv, castles_as_in_chess960(self.start.board())),
            comments: comments.into_iter().map(|(_, text)| text).collect(),
            glyphs: Vec::new(),
        });
        Ok(())
    }

    fn comment(&mut self, Line { before, after }: &Line, text: &str) -> Result<()> {
        // An empty comment takes up memory, too.
        self.text += text.len() + size_of::<String>();
        ensure!(self.text <= MOST_TEXT, "more than {MOST_TEXT} bytes of comments");
        let begins = before.id == after.id;
        let text = text.to_owned();
        match (after.id as usize).checked_sub(1) {
            None if self.nodes.is_empty() => self.comments.push(text),
            Some(last) if !begins => {
                if let Some(node) = self.nodes.get_mut(last) {
                    node.comments.push(text);
                }
            }
            _ => self.opening_comments.push((before.id, text)),
        }
        Ok(())
    }

    fn glyph(&mut self, line: &Line, nag: u8) {
        let last = (line.after.id as usize).checked_sub(1);
        if let Some(node) = last.and_then(|last| self.nodes.get_mut(last)) {
            node.glyphs.push(nag);
        }
    }

    fn result(&mut self, outcome: Outcome) {
        self.result.get_or_insert(outcome.as_pgn());
    }

    fn forgive(&mut self, fault: Fault) -> Result<(), Fault> {
        self.variation_fault.get_or_insert_with(|| fault.to_string());
        Ok(())
    }

    fn cut(mut self, fault: BadGame) -> Result<Self, BadGame> {
        self.fault = Some(fault);
        Ok(self)
    }

    fn end(self) -> Self {
        self
    }
}

fn pairs<S: Serializer>(tags: &Tags, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tags.iter())
}

fn fen<S: Serializer>(start: &Position, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&start.fen(castles_as_in_chess960(start.board())))
}

/// The fault without the game's number.
fn fault<S: Serializer>(bad: &Option<BadGame>, serializer: S) -> Result<S::Ok, S::Error> {
    bad.as_ref().map(|bad| bad.fault.to_string()).serialize(serializer)
}

/// The games of a file, of a folder of files or of standard input (`-`), read one at a time. The
/// inner error is a game that cannot be read; the next game follows. The outer error is a failure
/// of the input; read no further. Fails if the path is a folder without PGN files.
pub fn games(path: &Path) -> Result<impl Iterator<Item = Result<Result<Game>>>> {
    let files = pgn_files(path)?;
    let several = files.len() > 1;
    let mut files = files.into_iter();
    // The open file, with its name in messages.
    let mut open = None;
    let mut read = move || {
        loop {
            let (name, reader) = match &mut open {
                Some(open) => open,
                closed => {
                    let Some(path) = files.next() else { return Ok(None) };
                    let reader = Reader::new(open_text(&path)?);
                    closed.insert((format!("'{}'", path.display()), reader))
                }
            };
            let Some(read) = reader.read_game::<Game>().with_context(|| name.clone())? else {
                open = None;
                continue;
            };
            let number = reader.taken();
            let game =
                read.and_then(|game| game.checked().map_err(|fault| BadGame { number, fault }));
            return Ok(Some(match several {
                true => game.with_context(|| name.clone()),
                false => game.map_err(Error::from),
            }));
        }
    };
    Ok(iter::from_fn(move || read().transpose()))
}

/// The games that could not be read. Until a game is read, only the first fault is kept: text that
/// is no PGN has a fault in every paragraph.
#[derive(Default)]
pub struct Faults {
    first: Option<Error>,
    pub count: u64,
    read: bool,
}

impl Faults {
    /// Records a game that cannot be read. Returns the message if it may be shown now.
    pub fn add(&mut self, fault: Error) -> Option<String> {
        self.count += 1;
        if self.read {
            return Some(format!("{fault:#}"));
        }
        self.first.get_or_insert(fault);
        None
    }

    /// Records that a game was read. If it is the first one, returns the message about the games
    /// before it.
    pub fn end(&mut self) -> Option<String> {
        self.read = true;
        let first = self.first.take()?;
        Some(match self.count - 1 {
            0 => format!("{first:#}"),
            1 => format!("{first:#} (nor can the game after it)"),
            more => format!("{first:#} (nor can the {more} games after it)"),
        })
    }

    /// The first fault, if no game could be read.
    pub fn only(self) -> Option<Error> {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Game> {
        Ok(Reader::new(text.as_bytes()).read_game::<Game>()?.context("no game")??)
    }

    #[test]
    fn games_that_the_page_shows_differently_have_other_digests() -> Result<()> {
        let digest = read("1. e4 *")?.digest()?;
        assert_eq!(read("1. e4 *")?.digest()?, digest);
        for other in ["1. e4 1-0", "1. e4 Ke4", "1. e4 (1. Ke4) *", "1. e4 {x} *", "1. d4 *"] {
            assert_ne!(read(other)?.digest()?, digest, "{other}");
        }
        Ok(())
    }

    #[test]
    fn faults_before_the_first_game_are_one_message() {
        let fault = |number: u64| anyhow!("game {number}: no move");
        let mut faults = Faults::default();
        assert!((1..=3).all(|number| faults.add(fault(number)).is_none()));
        let before = faults.end();
        assert_eq!(before.as_deref(), Some("game 1: no move (nor can the 2 games after it)"));
        assert_eq!(faults.end(), None);
        assert_eq!(faults.add(fault(5)).as_deref(), Some("game 5: no move"));
        assert_eq!((faults.count, faults.only().is_none()), (4, true));
    }
}
