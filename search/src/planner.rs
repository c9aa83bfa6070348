//! The planner interface: a planner chooses a move for a position within limits, and reports while
//! it searches. [`PlannerSettings`] are those of all planners.

use std::num::NonZero;
use std::thread;

use anyhow::Result;
use azimuth_chess::position::Position;
use clap::ValueEnum;

use crate::beam::{BeamSettings, BeamVerify};
use crate::control::{Control, Limits, Report};
use crate::explanation::Explanation;
use crate::model::DefaultWeights;
use crate::selective::SelectiveSettings;
use crate::tablebase::Tablebases;
use crate::value::Value;
use crate::wdl::WdlModel;

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

    /// The tablebases that its searches probe.
    fn tablebases(&self) -> Option<&Tablebases> {
        None
    }

    /// The model that converts the planner's scores to chances to win, draw and lose.
    fn wdl_model(&self) -> WdlModel {
        WdlModel::BEAM
    }

    /// Clears what earlier searches learned.
    fn new_game(&mut self) {}
}

/// The planners by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlannerKind {
    /// The paper's beam search.
    Beam,
    /// Selective alpha-beta search.
    Selective,
}

impl WdlModel {
    /// The model of a planner's scores.
    pub fn of(planner: PlannerKind) -> Self {
        match planner {
            PlannerKind::Beam => Self::BEAM,
            PlannerKind::Selective => Self::SELECTIVE,
        }
    }
}

/// The settings of both planners.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannerSettings {
    /// Settings of the beam.
    pub beam: BeamSettings,
    /// Settings of the selective search.
    pub selective: SelectiveSettings,
}

impl PlannerSettings {
    /// Whether the beam suits these limits: only a depth ends the search, and it is at most the
    /// beam's configured depth.
    pub fn is_for_the_beam(&self, limits: &Limits) -> bool {
        let depth = self.beam.depth;
        !limits.are_open_ended() && limits.depth.unwrap_or(depth) <= depth
    }

    /// The default weights of a planner. A beam that scores children by their own embeddings needs
    /// weights that foresee captures; the other configurations resolve captures by search.
    pub fn default_weights(&self, kind: PlannerKind) -> DefaultWeights {
        match (kind, self.beam.verify) {
            (PlannerKind::Beam, BeamVerify::None) => DefaultWeights::Beam,
            _ => DefaultWeights::Selective,
        }
    }
}

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
