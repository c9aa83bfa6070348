//! Results of games.

use cozy_chess::Color;

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
