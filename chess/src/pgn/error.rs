//! Errors of single games.

use std::fmt;

/// A game that cannot be read. The games after it can be read.
#[derive(Debug)]
pub struct BadGame {
    /// The game's number in the input, from 1.
    pub number: u64,
    /// Why it cannot be read.
    pub fault: Fault,
}

/// Why a game cannot be read.
#[derive(Debug)]
pub enum Fault {
    /// The `Variant` tag, in lower case, names a variant with other rules than chess.
    Variant(String),
    /// The `FEN` tag is not a legal position.
    Start(anyhow::Error),
    /// A move is not legal.
    Move {
        /// The half-move's number in its line, from 1.
        half_move: u32,
        /// The move as the file writes it.
        san: String,
        /// FEN of the position before it.
        fen: String,
    },
    /// The game exceeds a limit that no real game reaches, for example `1048576 moves`.
    TooLong(String),
    /// The [`GameBuilder`](super::GameBuilder) refused it.
    Refused(anyhow::Error),
}

impl fmt::Display for BadGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "game {}: {}", self.number, self.fault)
    }
}

impl std::error::Error for BadGame {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variant(variant) => write!(f, "the variant '{variant}' is not chess"),
            Self::Start(error) | Self::Refused(error) => write!(f, "{error:#}"),
            Self::Move { half_move, san, fen } => {
                write!(f, "half-move {half_move}: move '{san}' is not legal in '{fen}'")
            }
            Self::TooLong(limit) => write!(f, "more than {limit} in one game"),
        }
    }
}

impl std::error::Error for Fault {}
