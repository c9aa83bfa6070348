//! What was measured of the documents' other systems, as it is stored.

use serde::Deserialize;

/// What `azimuth-rivals tau --json` prints.
#[derive(Deserialize)]
pub struct RivalResults {
    /// Its name.
    pub rival: String,
    /// Kendall's tau-b.
    pub tau: f64,
    /// Positions looked at in a second of searching.
    pub per_second: f64,
    /// Numbers in its weights.
    pub parameters: u64,
    /// Examples that it learned from, each as often as it was seen.
    pub examples: u64,
    /// Time that it learned for.
    pub seconds: f64,
}
