//! The planner: a position and limits in, a move out, with reports on the way.

mod beam;
mod control;
mod tree;
mod value;

use std::time::Duration;

use anyhow::Result;
use cozy_chess::Move;

use crate::position::Position;

pub use beam::{Beam, BeamMode, BeamSettings};
pub use control::{Control, Limits, Signal};
pub use value::Value;

/// What a search knows after an iteration.
#[derive(Clone, Debug)]
pub struct Report {
    /// Plies of this iteration.
    pub depth: u32,
    /// Deepest ply that was looked at.
    pub seldepth: u32,
    /// The root's value for its side to move.
    pub value: Value,
    /// Positions looked at so far.
    pub nodes: u64,
    /// Of those, positions that the encoder had to score.
    pub scored: u64,
    /// Time so far.
    pub time: Duration,
    /// Of that, time spent waiting for an encoder on another thread.
    pub waited: Duration,
    /// Fill of the score cache, in permille.
    pub hashfull: usize,
    /// The line that gives the value, best move first.
    pub pv: Vec<Move>,
}

/// Chooses moves.
pub trait Planner: Send {
    /// Searches `root`, which has a legal move, until the limits of `control`; `report` is called
    /// after each iteration. Returns the last finished iteration.
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report>;

    /// Forgets what earlier searches learned.
    fn new_game(&mut self);
}
