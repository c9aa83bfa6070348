//! Games as trajectories through a space.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth::report::{Game, Games};
use azimuth_network::{Inputs, Perspective};
use cozy_chess::{Board, Color};

use crate::inspect::positions::EmbeddedPositions;

/// Number of games in a figure.
const GAMES: usize = 3;

/// The positions of a game, in order.
pub struct Trajectory {
    /// Players and result.
    pub title: String,
    boards: Vec<Board>,
}

/// Reads the first games of a file. Fails if one of them cannot be read.
pub fn read(path: &Path) -> Result<Vec<Trajectory>> {
    let name = || format!("'{}'", path.display());
    let games = Games::of(path)?.take(GAMES);
    let read = games.map(|game| Ok(Trajectory::of(&game?.with_context(name)?)));
    let read: Vec<Trajectory> = read.collect::<Result<_>>()?;
    ensure!(!read.is_empty(), "{}: there is no game in it", name());
    Ok(read)
}

impl Trajectory {
    fn of(game: &Game) -> Self {
        let tag = |name: &'static str| game.tag(name).unwrap_or(name);
        let title = format!("{} – {}, {}", tag("White"), tag("Black"), tag("Result"));
        let mut position = game.start.clone();
        let mut boards = vec![position.board().clone()];
        for &mv in &game.moves {
            position.play(mv);
            boards.push(position.board().clone());
        }
        Self { title, boards }
    }

    /// Number of positions in the trajectory.
    pub fn len(&self) -> usize {
        self.boards.len()
    }

    /// The embeddings of the positions, row by row. An encoder with the side to move's perspective
    /// embeds the two sides' positions differently, so only positions with White to move are kept.
    pub fn embed(&mut self, space: &mut EmbeddedPositions) -> Result<Vec<f32>> {
        if space.weights.metadata.architecture.perspective() == Perspective::SideToMove {
            self.boards.retain(|board| board.side_to_move() == Color::White);
        }
        let inputs = Inputs::of(space.encoder.attributes().input, &self.boards);
        Ok(space.encoder.encode(&inputs)?)
    }
}
