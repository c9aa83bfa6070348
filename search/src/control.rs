//! Search control: the limits of a search, with the noise of a limited strength, the signals sent
//! to it while it runs, its clock, and what it reports.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use azimuth_chess::position::{Position, repetition_key};
use cozy_chess::{Board, Move};
use crossbeam_channel::{Receiver, TryRecvError, unbounded};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;

use crate::host::{self, Instant};
use crate::tablebase::Tablebases;
use crate::value::{Bound, Value};

/// A signal to a running search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Stop and answer now.
    Stop,
    /// The opponent played the pondered move: the clock starts now.
    PonderHit,
}

/// Stops searches from another thread. Copies share their state. A stop is permanent: it also ends
/// all later searches that check the switch.
#[derive(Clone, Debug, Default)]
pub struct StopSwitch(Arc<AtomicBool>);

impl StopSwitch {
    /// Stops the searches.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the searches have to stop.
    pub fn is_stopped(&self) -> bool {
        if host::asks_to_stop() {
            self.stop();
        }
        self.0.load(Ordering::Relaxed)
    }
}

/// The limits given by `go`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Maximum depth in plies. If `None`, a search limited by time, nodes or a signal has no
    /// maximum depth, and any other search uses the planner's default.
    pub depth: Option<u32>,
    /// Maximum number of positions searched.
    pub nodes: Option<u64>,
    /// Time for this move.
    pub time: Option<TimeLimit>,
    /// Answer only after [`Signal::Stop`].
    pub infinite: bool,
    /// The opponent's clock is running: no limit applies until [`Signal::PonderHit`].
    pub ponder: bool,
    /// Root moves to search; all legal moves if empty.
    pub search_moves: Vec<Move>,
    /// Number of lines to report, each with a different root move; 0 counts as 1.
    pub multipv: usize,
    /// Reduced playing strength.
    pub handicap: Option<Handicap>,
    /// Measure time in positions: this number of positions counts as one millisecond.
    pub nodes_per_ms: Option<NonZeroU64>,
}

impl Limits {
    /// Whether time, nodes or a signal end the search, regardless of its depth.
    pub fn are_open_ended(&self) -> bool {
        self.are_open_ended_by_themselves() || self.handicap_nodes().is_some()
    }

    /// As [`Self::are_open_ended`], apart from the handicap.
    fn are_open_ended_by_themselves(&self) -> bool {
        self.waits() || self.time.is_some() || self.nodes.is_some()
    }

    /// The tablebases that a search from `root` probes.
    pub(super) fn tablebases<'a>(
        &self,
        tables: Option<&'a Tablebases>,
        root: &Position,
    ) -> Option<&'a Tablebases> {
        let pieces = root.board().occupied().len() as usize;
        tables.filter(|_| self.handicap.is_none_or(|handicap| pieces <= handicap.table_pieces))
    }

    fn handicap_nodes(&self) -> Option<u64> {
        self.handicap?.nodes
    }

    /// Whether no limit ends the search before a signal.
    pub fn waits(&self) -> bool {
        self.infinite || self.ponder
    }
}

/// Time limits for one move, measured from the start of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    /// The soft limit: no new iteration begins after this.
    pub soft: Duration,
    /// The hard limit: the search stops here, even in the middle of an iteration.
    pub hard: Duration,
}

impl TimeLimit {
    /// The limits of a search that takes `time`.
    pub fn exactly(time: Duration) -> Self {
        Self { soft: time, hard: time }
    }
}

/// A limited strength: noise on the score of every position, so that the search plans well with an
/// imperfect evaluation, and a limit on the size of a search. The noise of a position stays the
/// same for the whole game. Mate scores stay exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Handicap {
    /// Standard deviation of the noise, in logits of the win probability.
    pub deviation: f32,
    /// Seed of the noise; one per game.
    pub seed: u64,
    /// Maximum number of positions searched, also while the opponent's clock is running.
    pub nodes: Option<u64>,
    /// Tablebases are probed only in searches from positions with at most this number of pieces.
    pub table_pieces: usize,
}

impl Handicap {
    /// The Gaussian noise of a position, in logits.
    pub(super) fn noise(&self, board: &Board) -> f32 {
        let mut random = SplitMix64::seed_from_u64(repetition_key(board) ^ self.seed);
        let normal: f32 = StandardNormal.sample(&mut random);
        normal * self.deviation
    }
}

/// Adds `noise` logits to a value in [-1, 1].
pub fn blurred(value: f32, noise: f32) -> f32 {
    if noise == 0.0 {
        return value;
    }
    // With v = 2p - 1, logit(p) is 2 artanh(v).
    let certain = 1.0 - f32::EPSILON;
    (value.clamp(-certain, certain).atanh() + noise / 2.0).tanh()
}

/// The state of a search after an iteration.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Depth of this iteration, in plies.
    pub depth: u32,
    /// Maximum depth reached, in plies.
    pub seldepth: u32,
    /// Number of this line among several, 1 being the best.
    pub multipv: usize,
    /// The root's value for its side to move.
    pub value: Value,
    /// Whether the value is a bound: a limit can stop a search after a fail-high.
    pub bound: Bound,
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
        Self { multipv: 1, value, pv, ..Self::default() }
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

/// Time after which a search announces its root moves, as in Stockfish: before that, they change
/// faster than a GUI can show them.
const ANNOUNCES_AFTER: Duration = Duration::from_secs(3);

/// The limits, signals and clock of a running search.
pub struct Control {
    limits: Limits,
    signals: Receiver<Signal>,
    switch: StopSwitch,
    began: Instant,
    clock: Instant,
    /// Positions searched when the clock started, and when it was last checked.
    clock_nodes: u64,
    seen_nodes: u64,
    /// Factor on the soft limit.
    soft_scale: f64,
    stopped: bool,
    /// The planner's reason for ending the search, if the planner ended it.
    ended_by: Option<&'static str>,
    /// Gets the root moves of a long search.
    announce: Option<Box<dyn FnMut(CurrentMove) + Send>>,
}

impl Control {
    /// Starts a search with these limits now.
    pub fn new(limits: Limits, signals: Receiver<Signal>) -> Self {
        let now = Instant::now();
        Self {
            limits,
            signals,
            switch: StopSwitch::default(),
            began: now,
            clock: now,
            clock_nodes: 0,
            seen_nodes: 0,
            soft_scale: 1.0,
            stopped: false,
            ended_by: None,
            announce: None,
        }
    }

    /// Passes each root move that the search begins to `announce`, once the search has lasted for
    /// three seconds. The beam searches all root moves at once and announces none.
    pub fn announce_root_moves(&mut self, announce: impl FnMut(CurrentMove) + Send + 'static) {
        self.announce = Some(Box::new(announce));
    }

    /// A search that only its limits can end.
    pub fn without_signals(limits: Limits) -> Self {
        let (_, signals) = unbounded();
        Self::new(limits, signals)
    }

    /// The same search, which `switch` stops, too.
    pub fn stopped_by(self, switch: &StopSwitch) -> Self {
        Self { switch: switch.clone(), ..self }
    }

    /// The limits given by `go`.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Time since the search began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether the move's time is taken from a clock, so that a forced move should be played at
    /// once. The limits of `movetime` are equal.
    pub fn on_the_clock(&self) -> bool {
        self.limits.time.is_some_and(|time| time.soft < time.hard) && !self.limits.waits()
    }

    /// Sets the factor on the soft limit. It has no effect if the soft and the hard limit are
    /// equal, as with `movetime`.
    pub fn scale_soft_limit(&mut self, scale: f64) {
        self.soft_scale = scale;
    }

    /// Whether the limits allow an iteration of `depth` plies. The planner's `default_depth`
    /// applies if they name no limit.
    pub fn may_begin(&self, depth: u32, default_depth: u32) -> bool {
        let is_open_ended = self.limits.are_open_ended();
        let deepest = self.limits.depth.or_else(|| (!is_open_ended).then_some(default_depth));
        let late = !self.limits.waits() && self.is_past_soft_limit();
        deepest.is_none_or(|deepest| depth <= deepest) && !late
    }

    fn is_past_soft_limit(&self) -> bool {
        let used = self.clock_after(self.seen_nodes);
        self.limits.time.is_some_and(|time| used >= self.soft_end(time))
    }

    /// Whether to stop after `nodes` positions.
    pub fn should_stop(&mut self, nodes: u64) -> bool {
        self.seen_nodes = nodes;
        self.stopped |= self.switch.is_stopped();
        loop {
            match self.signals.try_recv() {
                Ok(signal) => self.heed(signal),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    // The sender is gone, so nothing else can end a search without limits.
                    self.stopped |= self.limits.waits();
                    break;
                }
            }
        }
        if !self.limits.waits() {
            let late = self.limits.time.is_some_and(|time| self.clock_after(nodes) >= time.hard);
            let enough = self.limits.nodes.is_some_and(|limit| nodes >= limit);
            self.stopped |= late || enough;
        }
        // The handicap limits the search, not the time until the answer.
        self.stopped || self.limits.handicap_nodes().is_some_and(|most| nodes >= most)
    }

    /// Time on the clock after `nodes` positions: elapsed time, or positions converted to time if
    /// [`Limits::nodes_per_ms`] is set.
    pub fn clock_after(&self, nodes: u64) -> Duration {
        let Some(rate) = self.limits.nodes_per_ms else { return self.clock.elapsed() };
        let nodes = nodes.saturating_sub(self.clock_nodes);
        Duration::from_micros(nodes.saturating_mul(1000) / rate)
    }

    /// Subtracts the nodes of an earlier search from the node limit.
    pub(super) fn take_nodes(&mut self, nodes: u64) {
        if let Some(limit) = &mut self.limits.nodes {
            *limit = limit.saturating_sub(nodes);
        }
    }

    /// Announces a root move that the search begins, once the search has run for
    /// [`ANNOUNCES_AFTER`].
    pub(super) fn begin_root_move(&mut self, current: CurrentMove) {
        if let Some(announce) = &mut self.announce
            && self.began.elapsed() >= ANNOUNCES_AFTER
        {
            announce(current);
        }
    }

    /// Records the planner's reason for ending the search before its limits do.
    pub(super) fn end_by(&mut self, reason: &'static str) {
        self.ended_by = Some(reason);
    }

    /// One line that says why a search ended with a `report` of fewer than the `asked` plies.
    /// `None` if it reached that depth, or if time, nodes or a signal ended it.
    pub fn early_end(&self, asked: Option<u32>, report: &Report) -> Option<String> {
        let reached = report.depth;
        let asked = asked.filter(|&asked| reached < asked)?;
        if self.stopped || self.limits.are_open_ended_by_themselves() {
            return None;
        }
        let reason = match self.ended_by {
            Some(reason) => reason,
            None if report.value.plies_to_mate().is_some() => "checkmate is forced",
            None if self.limits.handicap.is_some() => "a limited strength searches no deeper",
            None => "the search goes no deeper",
        };
        Some(format!("depth {reached} of {asked} reached: {reason}"))
    }

    /// Blocks while the answer is ready but must not be sent yet.
    pub fn wait_until_wanted(&mut self) {
        while self.limits.waits() && !self.stopped {
            match self.signals.recv() {
                Ok(signal) => self.heed(signal),
                Err(_) => self.stopped = true,
            }
        }
    }

    /// Blocks until `time` after the search began, or until [`Signal::Stop`].
    pub fn pause_until(&mut self, time: Duration) {
        while !self.stopped {
            let Some(left) = time.checked_sub(self.elapsed()) else { break };
            match self.signals.recv_timeout(left) {
                Ok(signal) => self.heed(signal),
                Err(_) => break,
            }
        }
    }

    fn soft_end(&self, TimeLimit { soft, hard }: TimeLimit) -> Duration {
        if soft < hard { soft.mul_f64(self.soft_scale).min(hard) } else { soft }
    }

    fn heed(&mut self, signal: Signal) {
        match signal {
            Signal::Stop => self.stopped = true,
            Signal::PonderHit if !self.limits.ponder => {}
            Signal::PonderHit => {
                self.limits.ponder = false;
                // If pondering has used up the soft limit, answer at once: the running iteration
                // could last as long again.
                if self.on_the_clock() && self.is_past_soft_limit() {
                    self.limits.time = Some(TimeLimit::exactly(Duration::ZERO));
                }
                self.clock = Instant::now();
                self.clock_nodes = self.seen_nodes;
                // Without any limit, the time spent pondering is enough.
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

    #[test]
    fn a_ponder_hit_after_the_soft_limit_ends_the_search() {
        let stops_after = |nodes| {
            let [soft, hard] = [10, 1000].map(Duration::from_millis);
            let limits = Limits {
                time: Some(TimeLimit { soft, hard }),
                ponder: true,
                nodes_per_ms: NonZeroU64::new(1),
                ..Limits::default()
            };
            let (signal, signals) = unbounded();
            let mut control = Control::new(limits, signals);
            assert!(!control.should_stop(nodes));
            signal.send(Signal::PonderHit).expect("the search runs");
            control.should_stop(nodes)
        };
        assert_eq!([9, 10, 2000].map(stops_after), [false, true, true]);
    }

    #[test]
    fn a_ponder_hit_changes_no_search_that_does_not_ponder() {
        let (signal, signals) = unbounded();
        let mut control = Control::new(Limits::default(), signals);
        signal.send(Signal::PonderHit).expect("the search runs");
        assert!(!control.should_stop(1));
        let (signal, signals) = unbounded();
        let mut control = Control::new(Limits { ponder: true, ..Limits::default() }, signals);
        assert!(!control.should_stop(1));
        signal.send(Signal::PonderHit).expect("the search runs");
        assert!(control.should_stop(1));
    }

    #[test]
    fn a_switch_stops_every_search_that_heeds_it() {
        let switch = StopSwitch::default();
        let [mut one, mut other] =
            [0; 2].map(|_| Control::without_signals(Limits::default()).stopped_by(&switch));
        assert!(!one.should_stop(1) && !other.should_stop(1));
        switch.stop();
        assert!(one.should_stop(2) && other.should_stop(2));
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

    #[test]
    fn the_noise_has_its_deviation_and_repeats() {
        let handicap = Handicap { deviation: 0.5, seed: 7, ..Handicap::default() };
        let noises: Vec<f32> =
            (0..960).map(|number| handicap.noise(&Board::chess960_startpos(number))).collect();
        let mean = noises.iter().sum::<f32>() / 960.0;
        let square = noises.iter().map(|noise| noise * noise).sum::<f32>() / 960.0;
        // The tolerance is four standard errors.
        assert!(mean.abs() < 0.065, "{mean}");
        assert!((square.sqrt() - 0.5).abs() < 0.046, "{}", square.sqrt());
        let board = Board::default();
        assert_eq!(handicap.noise(&board), handicap.noise(&board));
        assert_ne!(Handicap { seed: 8, ..handicap }.noise(&board), handicap.noise(&board));
    }

    #[test]
    fn blurring_moves_the_logit() {
        assert_eq!(blurred(0.3, 0.0), 0.3);
        // One logit above p = 0.6 is p = 0.8029.
        assert!((blurred(0.2, 1.0) - (2.0 * 0.803_04 - 1.0)).abs() < 1e-4);
        assert!(blurred(1.0, -1.0) < 1.0 && blurred(-1.0, 30.0).is_finite());
    }
}
