//! The position to explain: a FEN, or a position of a game.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Error, Result, bail, ensure};
use azimuth_chess::pgn::{Game, MOST_MOVES, Reader, open_text, pgn_files};
use azimuth_chess::position::{Position, castles_as_in_chess960};
use clap::Args;
use cozy_chess::Color;

/// The arguments that select a position.
#[derive(Args)]
pub struct Subject {
    /// The position: a FEN or startpos [default: startpos unless --pgn is given]
    fen: Option<String>,
    /// Take the position from a game in a PGN file (plain or .zst), in a folder of PGN files, or
    /// from standard input (-).
    #[arg(long, conflicts_with = "fen")]
    pgn: Option<PathBuf>,
    /// Number of the game, from 1.
    #[arg(long, default_value_t = 1, requires = "pgn", value_parser = clap::value_parser!(u64).range(1..))]
    game: u64,
    /// Take the position after this number of half-moves [default: the end of the game]
    #[arg(long, requires = "pgn")]
    ply: Option<usize>,
    /// Take the position before this move: 29w is White's 29th move, 29b Black's.
    #[arg(long = "move", value_name = "MOVE", requires = "pgn", conflicts_with = "ply")]
    before: Option<MoveNumber>,
}

/// The number of a move and the side that plays it, as on a score sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MoveNumber {
    number: u16,
    side: Color,
}

impl MoveNumber {
    fn is_next_in(self, position: &Position) -> bool {
        let board = position.board();
        board.fullmove_number() == self.number && board.side_to_move() == self.side
    }
}

impl FromStr for MoveNumber {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (number, side) = match text.strip_suffix(['w', 'W']) {
            Some(number) => (number, Color::White),
            None => (text.strip_suffix(['b', 'B']).unwrap_or_default(), Color::Black),
        };
        let number = number.parse().ok().filter(|&number| number > 0);
        Ok(Self { number: number.context("expected a move as 29w or 29b")?, side })
    }
}

impl fmt::Display for MoveNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, if self.side == Color::White { 'w' } else { 'b' })
    }
}

impl Subject {
    /// The PGN file, if any.
    pub fn file(&self) -> Option<&Path> {
        self.pgn.as_deref()
    }

    /// The position with the history of its game, and whether moves are written in Chess960
    /// notation.
    pub fn position(&self) -> Result<(Position, bool)> {
        let position = match (&self.pgn, &self.fen) {
            (Some(path), _) => {
                let name = || format!("game {} of '{}'", self.game, path.display());
                self.position_of_game(path).with_context(name)?
            }
            (None, Some(fen)) if fen == "startpos" => Position::default(),
            (None, Some(fen)) => Position::from_fen(fen)?,
            (None, None) => Position::default(),
        };
        let chess960 = castles_as_in_chess960(position.board());
        Ok((position, chess960))
    }

    /// The selected position; games are numbered across all files.
    fn position_of_game(&self, path: &Path) -> Result<Position> {
        let mut games = 0;
        for file in pgn_files(path)? {
            let mut reader = Reader::new(open_text(&file)?).with_most_plies(self.most_plies());
            while games + 1 < self.game && reader.skip_game()? {
                games += 1;
            }
            if games + 1 == self.game
                && let Some(position) = self.read_game(&mut reader)?
            {
                return Ok(position);
            }
        }
        bail!(
            "there {}",
            match games {
                0 => "is no game in it".to_owned(),
                1 => "is only 1 game in it".to_owned(),
                games => format!("are only {games} games in it"),
            }
        )
    }

    fn read_game(&self, reader: &mut Reader<impl Read>) -> Result<Option<Position>> {
        let Some(read) = reader.read_game::<Game>()? else { return Ok(None) };
        // The caller adds the file name and the game's number to the error.
        let game = read.map_err(|bad| bad.fault)?;
        // Any text can be read as games without moves.
        let is_game = !game.tags.is_empty() || !game.moves.is_empty();
        ensure!(is_game, "there is no move and no tag: this is no PGN");
        let plies = game.moves.len();
        let Some(before) = self.before else {
            let ply = self.ply.unwrap_or(plies);
            ensure!(ply <= plies, "--ply {ply}: the game has {plies} half-moves");
            let mut position = game.start.clone();
            game.moves[..ply].iter().for_each(|played| position.play(played.mv));
            return Ok(Some(position));
        };
        let mut position = game.start.clone();
        for played in &game.moves {
            if before.is_next_in(&position) {
                break;
            }
            position.play(played.mv);
        }
        let found = before.is_next_in(&position);
        // Only this number of half-moves is read.
        let is_whole = plies < self.most_plies() as usize;
        let length =
            if is_whole { format!("the game has {plies} half-moves, ") } else { String::new() };
        ensure!(found, "--move {before}: {length}no such move");
        Ok(Some(position))
    }

    /// Number of half-moves to read; later moves are irrelevant.
    fn most_plies(&self) -> u32 {
        let before = self.before.map(|before| 2 * usize::from(before.number));
        let most = self.ply.or(before).and_then(|plies| u32::try_from(plies).ok());
        // A first move shows that the text is a game.
        most.unwrap_or(MOST_MOVES).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_numbered_as_on_score_sheets() {
        let white = MoveNumber { number: 29, side: Color::White };
        assert_eq!("29w".parse::<MoveNumber>().ok(), Some(white));
        assert_eq!(white.to_string(), "29w");
        let black = "7B".parse::<MoveNumber>().expect("valid");
        assert_eq!(black.to_string(), "7b");
        for text in ["", "w", "29", "0w", "-3b", "x w", "29.w"] {
            assert!(text.parse::<MoveNumber>().is_err(), "{text}");
        }
    }
}
