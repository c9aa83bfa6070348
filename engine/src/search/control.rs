//! Search control, when a search ends: its limits, the signals it gets while it runs, and its clock.

use std::time::{Duration, Instant};

use cozy_chess::Move;
use crossbeam_channel::{Receiver, TryRecvError, unbounded};

use super::handicap::Handicap;

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
    /// Deepest ply. Where `None`, a search that time, nodes or a signal will end has no deepest ply,
    /// and any other has the planner's own.
    pub depth: Option<u32>,
    /// Positions looked at.
    pub nodes: Option<u64>,
    /// Time for this move.
    pub time: Option<TimeLimit>,
    /// Answer only after [`Signal::Stop`].
    pub infinite: bool,
    /// The opponent's time runs: no limit holds until [`Signal::PonderHit`].
    pub ponder: bool,
    /// Root moves to choose from; all where empty.
    pub search_moves: Vec<Move>,
    /// Lines to report, each with a root move of its own; 0 counts as 1.
    pub multipv: usize,
    /// Play worse than one can.
    pub handicap: Option<Handicap>,
}

impl Limits {
    /// Whether time, nodes or a signal end the search, whatever its depth.
    pub fn are_open_ended(&self) -> bool {
        self.waits() || self.time.is_some() || self.nodes.is_some()
    }

    fn waits(&self) -> bool {
        self.infinite || self.ponder
    }
}

/// How long a move may take, from when its clock runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    /// The soft limit: no deeper iteration begins after this.
    pub soft: Duration,
    /// The hard limit: the search ends here, whatever it is doing.
    pub hard: Duration,
}

/// A search's view of its limits.
pub struct Control {
    limits: Limits,
    signals: Receiver<Signal>,
    began: Instant,
    clock: Instant,
    /// What the soft limit is multiplied by.
    soft_scale: f64,
    stopped: bool,
}

impl Control {
    /// Limits that count from now.
    pub fn new(limits: Limits, signals: Receiver<Signal>) -> Self {
        let now = Instant::now();
        Self { limits, signals, began: now, clock: now, soft_scale: 1.0, stopped: false }
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

    /// Multiplies the soft limit by `scale` from now on. It stays where it is the hard one, too, as that of `movetime`.
    pub fn scale_soft_limit(&mut self, scale: f64) {
        self.soft_scale = scale;
    }

    /// Whether an iteration of `depth` plies may begin, by the limits, or where they name none by the
    /// planner's `default_depth`.
    pub fn may_begin(&self, depth: u32, default_depth: u32) -> bool {
        let Limits { depth: deepest, time, .. } = &self.limits;
        let deepest = deepest.or_else(|| (!self.limits.are_open_ended()).then_some(default_depth));
        let late = |time: TimeLimit| !self.waits() && self.clock.elapsed() >= self.soft_end(time);
        deepest.is_none_or(|deepest| depth <= deepest) && !time.is_some_and(late)
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
            let late = self.limits.time.is_some_and(|time| self.clock.elapsed() >= time.hard);
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

    fn soft_end(&self, TimeLimit { soft, hard }: TimeLimit) -> Duration {
        if soft < hard { soft.mul_f64(self.soft_scale).min(hard) } else { soft }
    }

    fn waits(&self) -> bool {
        self.limits.waits()
    }

    fn heed(&mut self, signal: Signal) {
        match signal {
            Signal::Stop => self.stopped = true,
            Signal::PonderHit => {
                self.limits.ponder = false;
                self.clock = Instant::now();
                // With no limit at all, the time that the opponent took has been enough.
                let Limits { depth, nodes, time, infinite, .. } = &self.limits;
                let limited = depth.is_some() || nodes.is_some() || time.is_some() || *infinite;
                self.stopped |= !limited;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_soft_limit_of_its_own_moves_and_never_beyond_the_hard_one() {
        let [second, minute] = [1, 60].map(Duration::from_secs);
        let of = |soft, scale| {
            let mut control = Control::without_signals(Limits::default());
            control.scale_soft_limit(scale);
            control.soft_end(TimeLimit { soft, hard: minute })
        };
        assert_eq!([of(second, 2.5), of(second, 0.5)], [second * 5 / 2, second / 2]);
        assert_eq!([of(second, 100.0), of(minute, 0.5)], [minute; 2]);
    }
}
