//! The planner: a position and limits in, a move out, with reports on the way.

mod beam;
mod control;
mod deepening;
mod handicap;
mod mating;
mod rules;
mod tablebase;
mod tree;
mod value;

use std::time::Duration;

use anyhow::Result;
use cozy_chess::Move;

use crate::position::Position;

pub use beam::{Beam, BeamMode, BeamSettings};
pub use control::{Control, Limits, Signal, TimeLimit};
pub use handicap::Handicap;
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

    /// Forgets what earlier searches learned.
    fn new_game(&mut self);
}
