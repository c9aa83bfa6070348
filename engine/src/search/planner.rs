//! The planner interface: choose a move for a position within limits, and report on the way.

use anyhow::Result;
use azimuth_chess::position::Position;

use super::control::Control;
use super::explanation::Explanation;
use super::report::Report;
use super::value::Value;

/// Memory and threads that a planner may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Total size of all caches and tables, in megabytes.
    pub hash_mb: usize,
    /// Number of search threads.
    pub threads: usize,
}

/// Chooses moves.
pub trait Planner: Send {
    /// Searches `root`, which has a legal move, until the limits of `control`. Calls `report` after
    /// each iteration, once for each line. Returns the best line of the last finished iteration.
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report>;

    /// The static evaluation of a position; exact if the game is over.
    fn evaluate(&mut self, position: &Position) -> Result<Value>;

    /// The result for every root move of the last search, and for replies to searched moves,
    /// `plies` plies in all; `None` before the first search, and for a planner that does not keep
    /// its searches.
    fn explain(&mut self, _plies: u32) -> Result<Option<Explanation>> {
        Ok(None)
    }

    /// Forgets what earlier searches learned.
    fn new_game(&mut self) {}
}
