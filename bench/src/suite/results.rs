//! The results of a suite run, as JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One suite's solve rates.
#[derive(Debug, Serialize, Deserialize)]
pub struct SuiteResults {
    /// File name.
    pub suite: String,
    pub planner: String,
    pub depths: Vec<DepthRate>,
}

/// Problems solved at one depth.
#[derive(Debug, Serialize, Deserialize)]
pub struct DepthRate {
    pub depth: u32,
    #[serde(flatten)]
    pub rate: Rate,
}

/// One suite's solve rate in a fixed time per move.
#[derive(Debug, Serialize, Deserialize)]
pub struct TimedSuite {
    /// File name.
    pub suite: String,
    pub planner: String,
    pub milliseconds: u64,
    #[serde(flatten)]
    pub rate: Rate,
}

/// Number of solved problems.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rate {
    pub solved: u64,
    pub problems: u64,
    /// Points scored and possible, if moves are graded.
    pub points: Option<[u64; 2]>,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: u64, whole: u64| part as f64 * 100.0 / whole as f64;
        let Self { solved, problems, points } = self;
        write!(f, "{solved} of {problems} solved ({:.1}%)", share(*solved, *problems))?;
        match points {
            None => Ok(()),
            Some([points, most]) => {
                write!(f, ", {points} of {most} points ({:.1}%)", share(*points, *most))
            }
        }
    }
}
