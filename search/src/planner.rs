//! The planner interface: a planner chooses a move for a position within limits, and reports while
//! it searches. [`PlannerSettings`] builds the planners.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use azimuth_chess::position::Position;
use clap::ValueEnum;
use cozy_chess::Move;

use crate::DefaultWeights;
use crate::beam::{Beam, BeamSettings, BeamVerify};
use crate::control::{Control, Limits};
use crate::explanation::Explanation;
use crate::inference::Worker;
use crate::selective::{Selective, SelectiveSettings};
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
        WdlModel::of(PlannerKind::Beam)
    }

    /// Clears what earlier searches learned.
    fn new_game(&mut self) {}
}

/// The state of a search after an iteration.
#[derive(Clone, Debug)]
pub struct Report {
    /// Depth of this iteration, in plies.
    pub depth: u32,
    /// Maximum depth reached, in plies.
    pub seldepth: u32,
    /// Number of this line among several, 1 being the best.
    pub multipv: usize,
    /// The root's value for its side to move.
    pub value: Value,
    /// Positions searched so far.
    pub nodes: u64,
    /// Of these, positions that the encoder scored.
    pub scored: u64,
    /// Positions found in tablebases.
    pub tbhits: u64,
    /// Time so far.
    pub time: Duration,
    /// Of that, time spent waiting for an encoder on another thread.
    pub waited: Duration,
    /// Fill of the beam's score cache or the selective search's transposition table, in permille.
    pub hashfull: usize,
    /// The line that gives the value, best move first.
    pub pv: Vec<Move>,
}

impl Report {
    /// A line without costs.
    pub fn of(value: Value, pv: Vec<Move>) -> Self {
        Self {
            depth: 0,
            seldepth: 0,
            multipv: 1,
            value,
            nodes: 0,
            scored: 0,
            tbhits: 0,
            time: Duration::ZERO,
            waited: Duration::ZERO,
            hashfull: 0,
            pv,
        }
    }
}

/// A root move that a search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentMove {
    /// Depth of the iteration, in plies.
    pub depth: u32,
    /// The move.
    pub mv: Move,
    /// Its number among the root moves, in the order of the search, from 1.
    pub number: usize,
}

/// The planners by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlannerKind {
    /// The paper's beam search.
    Beam,
    /// Selective alpha-beta search.
    Selective,
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

    /// Builds a planner. Fails if memory for its tables is missing.
    pub fn build(
        &self,
        kind: PlannerKind,
        worker: &Worker,
        resources: Resources,
        tablebases: Option<Arc<Tablebases>>,
    ) -> Result<Box<dyn Planner>> {
        Ok(match kind {
            PlannerKind::Beam => {
                let mut beam = Beam::new(worker, self, resources)?;
                beam.set_tablebases(tablebases);
                Box::new(beam)
            }
            PlannerKind::Selective => {
                let mut selective = Selective::new(worker, self.selective, resources)?;
                selective.set_tablebases(tablebases);
                Box::new(selective)
            }
        })
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
