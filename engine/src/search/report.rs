//! Reports: the state of a search after an iteration.

use std::time::Duration;

use cozy_chess::Move;

use super::value::Value;

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
