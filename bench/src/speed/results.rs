//! What a speed run found, as it is printed and as JSON.

use serde::{Deserialize, Serialize};

/// All figures of one run.
#[derive(Debug, Serialize, Deserialize)]
pub struct SpeedResults {
    pub machine: Machine,
    pub encoders: Vec<EncoderSpeed>,
    pub searches: Vec<SearchSpeed>,
}

/// Where it ran, and the most that it does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub threads: usize,
    pub device: String,
    pub precision: String,
    /// Operations a second (a multiplication and an addition are two) of a large product of square
    /// matrices through candle.
    pub limit: f64,
    /// Rows of those matrices.
    pub limit_size: usize,
}

/// Positions a second from board to score, at one batch size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EncoderSpeed {
    pub encoder: String,
    pub batch: usize,
    pub positions_per_second: f64,
    /// Of one position.
    pub operations: f64,
    /// Operations a second beside the machine's limit.
    pub of_limit: f64,
}

/// Searches with one encoder.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchSpeed {
    pub encoder: String,
    pub width: usize,
    pub mode: String,
    /// Positions searched, each with an empty cache.
    pub positions: usize,
    pub depths: Vec<DepthSpeed>,
    /// Moves played by the search against itself, with the cache of the moves before.
    pub game: Option<GameSpeed>,
}

/// Means of a move at one depth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DepthSpeed {
    pub depth: u32,
    pub milliseconds: f64,
    pub looked_at: f64,
    pub scored: f64,
    /// Share of the positions looked at that had been scored in the same search, or whose value is
    /// exact.
    pub transpositions: f64,
    pub scored_per_second: f64,
    /// `scored_per_second` beside the encoder alone in the same rounds.
    pub of_encoder: f64,
    /// `scored_per_second` in operations beside the machine's limit.
    pub of_limit: f64,
    /// Share of the encoder's time in which the search worked too; `None` where the search runs the
    /// encoder itself.
    pub overlap: Option<f64>,
}

/// Means of a move in a game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GameSpeed {
    pub depth: u32,
    pub moves: usize,
    pub milliseconds: f64,
    pub looked_at: f64,
    pub scored: f64,
    /// Share of the positions looked at that did not have to be scored.
    pub hits: f64,
}
