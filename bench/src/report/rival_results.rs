//! Stored measurements of the rivals: the other systems of the project's documents.

use serde::Deserialize;

/// The output of `azimuth-rivals tau --json`.
#[derive(Deserialize)]
pub struct RivalResults {
    /// The rival's name.
    pub rival: String,
    /// Kendall's tau-b.
    pub tau: f64,
    /// Positions per second in a search.
    pub per_second: f64,
    /// Number of parameters.
    pub parameters: u64,
    /// Number of training examples, counting repetitions.
    pub examples: u64,
    /// Training time in seconds.
    pub seconds: f64,
}
