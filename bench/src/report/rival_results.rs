//! Stored measurements of the rivals: the other systems of the project's documents.

use serde::Deserialize;

/// The output of `azimuth-rivals tau --json`.
#[derive(Deserialize)]
pub struct RivalResults {
    /// The rival's name, or `azimuth-` with the name of the weights.
    pub rival: String,
    /// Kendall's tau-b on each set of positions.
    pub taus: Vec<Tau>,
    /// Positions per second in a search.
    pub per_second: f64,
    /// Number of parameters.
    pub parameters: u64,
    /// Number of training examples, counting repetitions.
    pub examples: u64,
    /// Training time in seconds.
    pub seconds: f64,
}

/// Kendall's tau-b on a set of positions, with its 95% interval.
#[derive(Deserialize)]
pub struct Tau {
    /// Name of the set.
    pub data: String,
    pub tau: f64,
    pub low: f64,
    pub high: f64,
}
