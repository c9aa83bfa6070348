//! What a suite run found, as JSON.

use serde::{Deserialize, Serialize};

/// One suite's solve rates.
#[derive(Debug, Serialize, Deserialize)]
pub struct SuiteResults {
    /// Name of the file.
    pub suite: String,
    pub width: usize,
    pub mode: String,
    pub depths: Vec<DepthRate>,
}

/// Problems solved at one depth.
#[derive(Debug, Serialize, Deserialize)]
pub struct DepthRate {
    pub depth: u32,
    pub solved: u64,
    pub problems: u64,
    /// Points and the most that there were, where moves are graded.
    pub points: Option<[u64; 2]>,
}
