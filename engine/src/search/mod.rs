//! The planner: a position and limits in, a move out, with reports on the way.

mod beam;
mod control;
mod deepening;
mod explanation;
mod handicap;
mod mating;
mod root;
mod rules;
mod schedule;
mod selective;
mod tablebase;
mod tree;
mod value;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use cozy_chess::Move;

use crate::inference::{Evaluator, Worker};
use crate::position::Position;

pub use beam::{Beam, BeamMode, BeamSettings};
pub use control::{Control, Limits, Signal, TimeLimit};
pub use explanation::{Consideration, Explanation, Searched};
pub use handicap::Handicap;
pub use selective::{Part, Parts, Selective, SelectiveSettings};
pub use tablebase::Tablebases;
pub use value::Value;

/// What a search knows after an iteration.
#[derive(Clone, Debug)]
pub struct Report {
    /// Plies of this iteration.
    pub depth: u32,
    /// Deepest ply that was looked at.
    pub seldepth: u32,
    /// Which of several lines this is, the best being 1.
    pub multipv: usize,
    /// The root's value for its side to move.
    pub value: Value,
    /// Positions looked at so far.
    pub nodes: u64,
    /// Of those, positions that the encoder had to score.
    pub scored: u64,
    /// Positions found in tablebases.
    pub tbhits: u64,
    /// Time so far.
    pub time: Duration,
    /// Of that, time spent waiting for an encoder on another thread.
    pub waited: Duration,
    /// Fill of the score cache, in permille.
    pub hashfull: usize,
    /// The line that gives the value, best move first.
    pub pv: Vec<Move>,
}

impl Report {
    /// A line without anything that was spent on it.
    fn of(value: Value, pv: Vec<Move>) -> Self {
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

/// The planners by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlannerKind {
    /// The paper's.
    Beam,
    /// Alpha-beta that is selective.
    Selective,
}

/// What every planner may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Size of all caches and tables together, in megabytes.
    pub hash_mb: usize,
    /// Threads that search.
    pub threads: usize,
}

/// Shapes of both planners.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannerSettings {
    /// The beam's.
    pub beam: BeamSettings,
    /// The selective search's.
    pub selective: SelectiveSettings,
}

impl PlannerSettings {
    /// Builds a planner. Fails where memory for its tables is missing.
    pub fn build(
        &self,
        kind: PlannerKind,
        worker: &Worker,
        resources: Resources,
        tables: Option<Arc<Tablebases>>,
    ) -> Result<Box<dyn Planner>> {
        Ok(match kind {
            PlannerKind::Beam => {
                let evaluator = Evaluator::new(worker, resources.hash_mb)?;
                let mut evaluators = evaluator.for_threads(worker, resources.threads);
                let helpers = evaluators.split_off(1);
                let first = evaluators.pop().context("one evaluator is the planner's own")?;
                let mut beam = Beam::new(first, self.beam);
                beam.set_helpers(helpers);
                beam.set_tables(tables);
                Box::new(beam)
            }
            PlannerKind::Selective => {
                let mut selective = Selective::new(worker, self.selective, resources)?;
                selective.set_tables(tables);
                Box::new(selective)
            }
        })
    }
}

/// Chooses moves.
pub trait Planner: Send {
    /// Searches `root`, which has a legal move, until the limits of `control`; `report` is called
    /// after each iteration, once for each line. Returns the best line of the last finished iteration.
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report>;

    /// The position's own score, without a search; exact where the game is over.
    fn evaluate(&mut self, position: &Position) -> Result<Value>;

    /// What became of every root move in the last search; `None` before the first.
    fn explain(&mut self) -> Result<Option<Explanation>>;

    /// Forgets what earlier searches learned.
    fn new_game(&mut self);
}
