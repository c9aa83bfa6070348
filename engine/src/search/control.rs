//! Search control, when a search ends: its limits, the signals it gets while it runs, and its clock.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use cozy_chess::Move;
use crossbeam_channel::{Receiver, TryRecvError, unbounded};

use super::handicap::Handicap;
use super::report::Report;

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
    /// Time is counted in positions: this many are a millisecond.
    pub nodes_per_ms: Option<NonZeroU64>,
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
    /// Positions looked at when the clock began to run, and when it was last looked at.
    clock_nodes: u64,
    seen_nodes: u64,
    /// What the soft limit is multiplied by.
    soft_scale: f64,
    stopped: bool,
    /// What the planner itself ended the search by.
    ended_by: Option<&'static str>,
}

impl Control {
    /// Limits that count from now.
    pub fn new(limits: Limits, signals: Receiver<Signal>) -> Self {
        let now = Instant::now();
        Self {
            limits,
            signals,
            began: now,
            clock: now,
            clock_nodes: 0,
            seen_nodes: 0,
            soft_scale: 1.0,
            stopped: false,
            ended_by: None,
        }
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
        let used = self.clock_after(self.seen_nodes);
        let late = |time: TimeLimit| !self.waits() && used >= self.soft_end(time);
        deepest.is_none_or(|deepest| depth <= deepest) && !time.is_some_and(late)
    }

    /// Whether to stop after `nodes` positions.
    pub fn should_stop(&mut self, nodes: u64) -> bool {
        self.seen_nodes = nodes;
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
            let late = self.limits.time.is_some_and(|time| self.clock_after(nodes) >= time.hard);
            let enough = self.limits.nodes.is_some_and(|limit| nodes >= limit);
            self.stopped |= late || enough;
        }
        self.stopped
    }

    /// Time on the clock after `nodes` positions: since it began to run, or as long as so many positions count.
    pub fn clock_after(&self, nodes: u64) -> Duration {
        let Some(rate) = self.limits.nodes_per_ms else { return self.clock.elapsed() };
        let nodes = nodes.saturating_sub(self.clock_nodes);
        Duration::from_micros(nodes.saturating_mul(1000) / rate)
    }

    /// Notes what makes the planner end the search before its limits do.
    pub(super) fn end_by(&mut self, reason: &'static str) {
        self.ended_by = Some(reason);
    }

    /// Why a search of `asked` plies ended with `report`, which is of fewer, in one line; `None` where it is of as many, or
    /// where time, nodes or a signal ended it.
    pub fn early_end(&self, asked: Option<u32>, report: &Report) -> Option<String> {
        let reached = report.depth;
        let asked = asked.filter(|&asked| reached < asked)?;
        if self.stopped || self.limits.are_open_ended() {
            return None;
        }
        let reason = match self.ended_by {
            Some(reason) => reason,
            None if report.value.plies_to_mate().is_some() => "checkmate is forced",
            None if self.limits.depth.is_some_and(|depth| depth < asked) => {
                "a limited strength searches no deeper"
            }
            None => "the search goes no deeper",
        };
        Some(format!("depth {reached} of {asked} reached: {reason}"))
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
                self.clock_nodes = self.seen_nodes;
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
    use crate::search::value::Value;

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

    #[test]
    fn time_can_be_counted_in_nodes() {
        let time =
            Some(TimeLimit { soft: Duration::from_millis(2), hard: Duration::from_millis(5) });
        let nodes_per_ms = NonZeroU64::new(100);
        let limits = Limits { time, nodes_per_ms, ..Limits::default() };
        let mut control = Control::without_signals(limits);
        std::thread::sleep(Duration::from_millis(6));
        assert!(!control.should_stop(199) && control.may_begin(2, 6));
        assert!(!control.should_stop(200) && !control.may_begin(2, 6));
        assert!(!control.should_stop(499) && control.should_stop(500));
        assert_eq!(control.clock_after(1234), Duration::from_micros(12_340));
    }

    #[test]
    fn an_early_end_is_explained_unless_it_was_asked_for() {
        let report = |depth, value| Report { depth, ..Report::of(value, Vec::new()) };
        let even = report(4, Value::DRAW);
        let of = |limits: Limits| Control::without_signals(limits);
        let control = of(Limits { depth: Some(9), ..Limits::default() });
        assert_eq!(control.early_end(Some(4), &even), None);
        assert_eq!(control.early_end(None, &even), None);
        let said = control.early_end(Some(9), &even);
        assert_eq!(said.as_deref(), Some("depth 4 of 9 reached: the search goes no deeper"));
        let said = control.early_end(Some(9), &report(3, -Value::mated_in(3)));
        assert_eq!(said.as_deref(), Some("depth 3 of 9 reached: checkmate is forced"));
        let mut full = of(Limits { depth: Some(9), ..Limits::default() });
        full.end_by("the tree is full");
        let said = full.early_end(Some(9), &even);
        assert_eq!(said.as_deref(), Some("depth 4 of 9 reached: the tree is full"));
        let timed = of(Limits { depth: Some(9), nodes: Some(1), ..Limits::default() });
        assert_eq!(timed.early_end(Some(9), &even), None);
    }
}
