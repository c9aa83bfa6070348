//! When a search ends: its limits, the signals it gets while it runs, and its clock.

use std::time::{Duration, Instant};

use cozy_chess::Move;
use crossbeam_channel::{Receiver, TryRecvError, unbounded};

/// What a running search can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Answer now.
    Stop,
    /// The move pondered on was played: the clock runs from here.
    PonderHit,
}

/// What `go` asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Deepest ply; the planner's own depth where `None`.
    pub depth: Option<u32>,
    /// Positions looked at.
    pub nodes: Option<u64>,
    /// Time for this move.
    pub time: Option<Duration>,
    /// Answer only after [`Signal::Stop`].
    pub infinite: bool,
    /// The opponent's time runs: no limit holds until [`Signal::PonderHit`].
    pub ponder: bool,
    /// Root moves to choose from; all where empty.
    pub moves: Vec<Move>,
}

/// A search's view of its limits.
pub struct Control {
    limits: Limits,
    signals: Receiver<Signal>,
    began: Instant,
    clock: Instant,
    stopped: bool,
}

impl Control {
    /// Limits that count from now.
    pub fn new(limits: Limits, signals: Receiver<Signal>) -> Self {
        let now = Instant::now();
        Self { limits, signals, began: now, clock: now, stopped: false }
    }

    /// For a search that its limits alone end.
    pub fn without_signals(limits: Limits) -> Self {
        let (_, signals) = unbounded();
        Self::new(limits, signals)
    }

    /// What `go` asked for.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Time since the search began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether time is short, so that a forced move needs no thought.
    pub fn on_the_clock(&self) -> bool {
        self.limits.time.is_some() && !self.waits()
    }

    /// Whether to stop after `nodes` positions.
    pub fn should_stop(&mut self, nodes: u64) -> bool {
        loop {
            match self.signals.try_recv() {
                Ok(signal) => self.heed(signal),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    // Nobody is left to end a search that has no limit of its own.
                    self.stopped |= self.waits();
                    break;
                }
            }
        }
        if !self.waits() {
            let late = self.limits.time.is_some_and(|time| self.clock.elapsed() >= time);
            let enough = self.limits.nodes.is_some_and(|limit| nodes >= limit);
            self.stopped |= late || enough;
        }
        self.stopped
    }

    /// Blocks while the answer is ready but must not be given yet.
    pub fn wait_until_wanted(&mut self) {
        while self.waits() && !self.stopped {
            match self.signals.recv() {
                Ok(signal) => self.heed(signal),
                Err(_) => self.stopped = true,
            }
        }
    }

    fn waits(&self) -> bool {
        self.limits.infinite || self.limits.ponder
    }

    fn heed(&mut self, signal: Signal) {
        match signal {
            Signal::Stop => self.stopped = true,
            Signal::PonderHit => {
                self.limits.ponder = false;
                self.clock = Instant::now();
            }
        }
    }
}
