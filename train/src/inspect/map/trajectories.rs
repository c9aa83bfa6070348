//! Games as ways through a space.

use std::path::Path;

use anyhow::{Context, Result};
use azimuth::report::{Game, read_games};
use azimuth_network::{Inputs, Perspective};
use cozy_chess::{Board, Color};

use crate::inspect::positions::EmbeddedPositions;

/// Games of a figure.
const GAMES: usize = 3;

/// A game's positions in their order.
pub struct Trajectory {
    /// Players and result.
    pub title: String,
    boards: Vec<Board>,
}

/// The first games of a file. Fails where one of them cannot be read.
pub fn read(path: &Path) -> Result<Vec<Trajectory>> {
    let games = read_games(path)?.into_iter().take(GAMES);
    let read = games.map(|game| game.map(|game| Trajectory::of(&game)));
    read.collect::<Result<_, _>>().with_context(|| format!("'{}'", path.display()))
}

impl Trajectory {
    fn of(game: &Game) -> Self {
        let tag = |name: &str| game.tag(name).unwrap_or_else(|| name.to_owned());
        let title = format!("{} – {}, {}", tag("White"), tag("Black"), tag("Result"));
        let mut position = game.start.clone();
        let mut boards = vec![position.board().clone()];
        for played in &game.moves {
            position.play(played.mv);
            boards.push(position.board().clone());
        }
        Self { title, boards }
    }

    /// How many positions it has in the space.
    pub fn len(&self) -> usize {
        self.boards.len()
    }

    /// The positions' embeddings, row by row. An encoder that sees a position from its side to move has a place for each
    /// side's: there only those with White to move are one way, and the others are left out.
    pub fn embed(&mut self, space: &mut EmbeddedPositions) -> Result<Vec<f32>> {
        if space.weights.metadata.architecture.perspective() == Perspective::SideToMove {
            self.boards.retain(|board| board.side_to_move() == Color::White);
        }
        let inputs = Inputs::of(space.encoder.attributes().input, &self.boards);
        space.encoder.encode(&inputs)
    }
}
