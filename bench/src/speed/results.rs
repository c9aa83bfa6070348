//! The results of a speed run, as text and as JSON.

use serde::{Deserialize, Serialize};

/// All results of one run.
#[derive(Debug, Serialize, Deserialize)]
pub struct SpeedResults {
    pub machine: Machine,
    pub encoders: Vec<EncoderSpeed>,
    pub searches: Vec<SearchSpeed>,
}

/// The machine and its measured limit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub threads: usize,
    pub device: String,
    pub precision: String,
    /// Operations per second (a multiplication and an addition count as two) of a large product of
    /// square matrices through candle.
    pub limit: f64,
    /// Number of rows of those matrices.
    pub limit_size: usize,
}

/// Positions per second from board to score, at one batch size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EncoderSpeed {
    pub encoder: String,
    pub batch: usize,
    pub positions_per_second: f64,
    /// Operations per position.
    pub operations: f64,
    /// Operations per second as a share of the machine's limit.
    pub of_limit: f64,
}

/// Searches with one encoder.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchSpeed {
    pub encoder: String,
    /// Searches of the positions, each with an empty cache.
    pub depths: Vec<DepthSpeed>,
    /// Moves of a game of the search against itself; the cache is kept between moves.
    pub game: Option<GameSpeed>,
}

/// Means per move at one depth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DepthSpeed {
    pub depth: u32,
    pub milliseconds: f64,
    pub scored: f64,
    pub scored_per_second: f64,
    /// `scored_per_second` relative to the encoder alone in the same rounds.
    pub of_encoder: f64,
}

/// Means per move in a game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GameSpeed {
    pub depth: u32,
    pub milliseconds: f64,
    pub scored: f64,
    /// Share of the visited positions that did not have to be scored.
    pub hits: f64,
}
