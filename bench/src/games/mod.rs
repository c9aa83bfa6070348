//! Played games: results and scores, and PGN.

mod foreign;
pub mod record;

use cozy_chess::Color;

/// A score from White's view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evaluation {
    Centipawns(i32),
    /// Moves to mate; negative if White is mated.
    Mate(i32),
}

impl Evaluation {
    /// From the view of the side to move.
    pub fn seen_by(self, side: Color) -> Self {
        match (side, self) {
            (Color::White, _) => self,
            (Color::Black, Self::Centipawns(value)) => Self::Centipawns(-value),
            (Color::Black, Self::Mate(moves)) => Self::Mate(-moves),
        }
    }
}
