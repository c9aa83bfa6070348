//! Which position is asked about: a FEN, or a place in a game.

use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};

use azimuth_chess::position::{Position, castles_as_in_chess960};
use azimuth_chess::san::parse_move;

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
    /// The file that it is read from.
    pub fn file(&self) -> Option<&Path> {
        self.pgn.as_deref()
    }

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
        let mut reader = Reader::new(BufReader::new(file));
        for skipped in 1..self.game {
            ensure!(reader.skip_game()?, "the file has {} games", skipped - 1);
        }
        let mut visitor = UpToPly { ply: self.ply };
        let read = reader.read_game(&mut visitor)?;
        let (position, plies) = read.context("the file has no such game")??;
        let ply = self.ply.unwrap_or(plies);
        ensure!(ply == plies, "--ply {ply}: the game has {plies} half-moves");
        Ok(position)
    }
}

/// Plays a game's main line up to a ply.
struct UpToPly {
    ply: Option<usize>,
}

type Played = Result<(Position, usize)>;

#[derive(Default)]
struct Tags {
    fen: Option<String>,
}

impl Visitor for UpToPly {
    type Tags = Tags;
    type Movetext = (Position, usize);
    type Output = Played;

    fn begin_tags(&mut self) -> ControlFlow<Played, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Played> {
        if name == b"FEN" {
            tags.fen = Some(value.decode_utf8_lossy().into_owned());
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Played, (Position, usize)> {
        match tags.fen.as_deref().map_or_else(|| Ok(Position::default()), Position::from_fen) {
            Ok(start) => ControlFlow::Continue((start, 0)),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }

    fn san(
        &mut self,
        (position, plies): &mut (Position, usize),
        san: SanPlus,
    ) -> ControlFlow<Played> {
        if self.ply == Some(*plies) {
            return ControlFlow::Break(Ok((position.clone(), *plies)));
        }
        *plies += 1;
        match parse_move(position, &san.to_string()) {
            Ok(mv) => {
                position.play(mv);
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(Err(error.context(format!("half-move {plies}")))),
        }
    }

    fn begin_variation(&mut self, _: &mut (Position, usize)) -> ControlFlow<Played, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, played: (Position, usize)) -> Played {
        Ok(played)
    }
}
