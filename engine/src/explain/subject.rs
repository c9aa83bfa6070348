//! Which position is asked about: a FEN, or a place in a game.

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::{Game, Reader};
use azimuth_chess::position::{Position, castles_as_in_chess960};
use clap::Args;

/// The position that is asked about.
#[derive(Args)]
pub struct Subject {
    /// The position, as FEN; the starting position where neither it nor --pgn is given.
    fen: Option<String>,
    /// A game's position instead.
    #[arg(long, conflicts_with = "fen")]
    pgn: Option<PathBuf>,
    /// Which of the file's games, from 1.
    #[arg(long, default_value_t = 1, requires = "pgn", value_parser = clap::value_parser!(u64).range(1..))]
    game: u64,
    /// After so many half-moves of it; after its last one where not given.
    #[arg(long, requires = "pgn")]
    ply: Option<usize>,
}

impl Subject {
    /// The position with its game's history, and whether it is written as in Chess960.
    pub fn position(&self) -> Result<(Position, bool)> {
        let position = match (&self.pgn, &self.fen) {
            (Some(path), _) => {
                let name = || format!("game {} of '{}'", self.game, path.display());
                self.position_of_game(File::open(path).with_context(name)?).with_context(name)?
            }
            (None, Some(fen)) => Position::from_fen(fen)?,
            (None, None) => Position::default(),
        };
        let chess960 = castles_as_in_chess960(position.board());
        Ok((position, chess960))
    }

    fn position_of_game(&self, file: File) -> Result<Position> {
        let most_plies = self.ply.map_or(u32::MAX, |ply| ply.try_into().unwrap_or(u32::MAX));
        let mut reader = Reader::new(file).with_most_plies(most_plies);
        for skipped in 1..self.game {
            ensure!(reader.skip_game()?, "the file has {} games", skipped - 1);
        }
        let read = reader.read_game::<Game>()?.context("the file has no such game")?;
        // Which game it is stands before this error, with the file's name.
        let game = read.map_err(|bad| bad.fault)?;
        let plies = game.moves.len();
        let ply = self.ply.unwrap_or(plies);
        ensure!(ply == plies, "--ply {ply}: the game has {plies} half-moves");
        Ok(game.last_position())
    }
}
