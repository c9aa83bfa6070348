//! Games of a PGN file with the clock times and evaluations in their comments.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::{self, BadGame, Fault, Reader};
use azimuth_chess::position::Position;
use azimuth_chess::text::shortened;
use cozy_chess::Move;

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

    fn of(game: pgn::Game) -> Result<Self, Fault> {
        if game.moves.is_empty() {
            return Err(Fault::Refused(anyhow::anyhow!("there is no move in it")));
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

/// Reads the games of a file; a game that cannot be read is an error in the list. Fails if the file
/// cannot be read or has no game.
pub fn read_games(path: &Path) -> Result<Vec<Result<Game, BadGame>>> {
    let name = || format!("'{}'", path.display());
    let mut reader = Reader::new(File::open(path).with_context(name)?);
    let mut games = Vec::new();
    while let Some(game) = reader.read_game::<pgn::Game>().with_context(name)? {
        let number = reader.taken();
        let shown = |game| Game::of(game).map_err(|fault| BadGame { number, fault });
        games.push(game.and_then(shown));
    }
    ensure!(!games.is_empty(), "{}: there is no game in it", name());
    Ok(games)
}

/// Splits a comment at the next `[%command value]`: the text before it, the command, and the text
/// after it.
fn next_command(text: &str) -> Option<(&str, (&str, &str))> {
    let (before, rest) = text.split_once("[%")?;
    Some((before, rest.split_once(']')?))
}
