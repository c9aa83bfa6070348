//! The planner interface: chooses a move for a position within limits, and reports while it
//! searches.

use std::num::NonZero;
use std::thread;

use anyhow::Result;
use azimuth_chess::position::Position;

use super::control::Control;
use super::explanation::Explanation;
use super::report::Report;
use super::settings::PlannerKind;
use super::value::Value;
use super::wdl::WdlModel;

/// Maximum number of search threads per processor. With more, the main thread, which watches the
/// time, waits too long for its turn: with 1024 threads on two processors, a move of one second
/// took 22 seconds.
pub const THREADS_PER_PROCESSOR: usize = 8;

/// Memory and threads that a planner may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Total size of all caches and tables, in megabytes.
    pub hash_mb: usize,
    /// Number of search threads.
    pub threads: usize,
}

impl Resources {
    /// These resources with at most [`THREADS_PER_PROCESSOR`].
    pub fn on_this_machine(self) -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Self { threads: self.threads.min(processors * THREADS_PER_PROCESSOR), ..self }
    }
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

    /// The model that converts the planner's scores to chances to win, draw and lose.
    fn wdl_model(&self) -> WdlModel {
        WdlModel::of(PlannerKind::Beam)
    }

    /// Clears what earlier searches learned.
    fn new_game(&mut self) {}
}
