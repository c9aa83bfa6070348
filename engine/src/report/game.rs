//! Games in PGN with the clock times and evaluations in their comments.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::vec;

use anyhow::{Context, Error, Result, anyhow};
use azimuth_chess::pgn::{self, BadGame, Fault, Reader, open_text, pgn_files};
use azimuth_chess::position::Position;
use azimuth_chess::text::shortened;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cozy_chess::Move;
use sha2::{Digest, Sha256};

/// Maximum number of half-moves of a game on the page.
const LONGEST_GAME: usize = 2_000;

/// Maximum length of a tag or a comment on the page, in characters.
const LONGEST_TEXT: usize = 400;

/// A game's main line.
pub struct Game {
    tags: pgn::Tags,
    /// The starting position.
    pub start: Position,
    /// Its moves.
    pub moves: Vec<GameMove>,
}

/// A move and its annotations in the file.
#[derive(Debug)]
pub struct GameMove {
    /// The move.
    pub mv: Move,
    /// `[%clk …]`: the time left on the clock.
    pub clock: Option<String>,
    /// `[%eval …]`: the evaluation after the move.
    pub eval: Option<String>,
    /// The first comment with text.
    pub comment: Option<String>,
}

impl Game {
    /// A tag's value, unless it is empty or unknown.
    pub fn tag(&self, name: &str) -> Option<String> {
        self.tags.known(name).map(|value| shortened(value, LONGEST_TEXT))
    }

    /// Number of positions, from the start to the end.
    pub fn positions(&self) -> u64 {
        self.moves.len() as u64 + 1
    }

    /// The SHA-256 of all that is read of it.
    pub fn digest(&self) -> String {
        let Self { tags, start, moves } = self;
        STANDARD.encode(Sha256::digest(format!("{tags:?} {} {moves:?}", start.fen(true))))
    }

    fn of(game: pgn::Game) -> Result<Self, Fault> {
        if game.moves.is_empty() {
            return Err(Fault::Refused(anyhow!("there is no move in it")));
        }
        if game.moves.len() > LONGEST_GAME {
            return Err(Fault::TooLong(format!("{LONGEST_GAME} half-moves")));
        }
        let moves = game.moves.iter().map(GameMove::of).collect();
        Ok(Self { tags: game.tags, start: game.start, moves })
    }
}

impl GameMove {
    fn of(played: &pgn::GameMove) -> Self {
        let mut read = Self { mv: played.mv, clock: None, eval: None, comment: None };
        for text in &played.comments {
            let (mut words, mut rest) = (String::new(), text.as_str());
            while let Some((before, (command, after))) = next_command(rest) {
                words.push_str(before);
                match command.split_once(' ') {
                    Some(("clk", clock)) => read.clock = Some(clock.trim().to_owned()),
                    Some(("eval", eval)) => {
                        read.eval = eval.split(',').next().map(|eval| eval.trim().to_owned());
                    }
                    _ => {}
                }
                rest = after;
            }
            words.push_str(rest);
            let words = shortened(words.trim(), LONGEST_TEXT);
            read.comment = read.comment.or(Some(words).filter(|words| !words.is_empty()));
        }
        read
    }
}

/// The games of a file, of a folder of files or of standard input (`-`), read one at a time. A game
/// that cannot be read is an error inside, and the next one follows; input that fails is an error
/// outside, and nothing follows.
pub struct Games {
    files: vec::IntoIter<PathBuf>,
    several: bool,
    open: Option<OpenFile>,
}

struct OpenFile {
    /// As messages name it.
    name: String,
    reader: Reader<Box<dyn BufRead + Send>>,
}

impl Games {
    /// The games of `path`. Fails if it is a folder without PGN files.
    pub fn of(path: &Path) -> Result<Self> {
        let files = pgn_files(path)?;
        let several = files.len() > 1;
        Ok(Self { files: files.into_iter(), several, open: None })
    }

    fn read(&mut self) -> Result<Option<Result<Game>>> {
        loop {
            let OpenFile { name, reader } = match &mut self.open {
                Some(open) => open,
                closed => {
                    let Some(path) = self.files.next() else { return Ok(None) };
                    let reader = Reader::new(open_text(&path)?);
                    closed.insert(OpenFile { name: format!("'{}'", path.display()), reader })
                }
            };
            let Some(read) = reader.read_game::<pgn::Game>().with_context(|| name.clone())? else {
                self.open = None;
                continue;
            };
            let number = reader.taken();
            let game =
                read.and_then(|game| Game::of(game).map_err(|fault| BadGame { number, fault }));
            return Ok(Some(match self.several {
                true => game.with_context(|| name.clone()),
                false => game.map_err(Error::from),
            }));
        }
    }
}

impl Iterator for Games {
    type Item = Result<Result<Game>>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if read.is_err() {
            (self.files, self.open) = (Vec::new().into_iter(), None);
        }
        read.transpose()
    }
}

/// Splits a comment at the next `[%command value]`: the text before it, the command, and the text
/// after it.
fn next_command(text: &str) -> Option<(&str, (&str, &str))> {
    let (before, rest) = text.split_once("[%")?;
    Some((before, rest.split_once(']')?))
}
