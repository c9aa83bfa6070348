//! Background tasks: a search in a separate thread with its output, a perft, or an answer that
//! waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use azimuth_chess::position::{Position, legal_moves, uci_move};
use azimuth_search::host::Thread;
use azimuth_search::{
    Bound, Control, CurrentMove, Limits, Planner, Report, Signal, TimeLimit, WdlModel, find_mate,
};
use crossbeam_channel::{Sender, unbounded};

use super::bench::divide;
use super::output::Output;
use super::time_management::time_for_choice;
use crate::explain::line;

pub enum Running {
    Search(Background),
    Perft(Background),
    /// The answer to a `go` that needs no search.
    Held(HeldAnswer),
}

impl Running {
    /// Whether the answer is printed or about to be, so that the next command may wait for it.
    pub fn is_ending(&self) -> bool {
        match self {
            Self::Search(work) | Self::Perft(work) => work.is_ending(),
            Self::Held(held) => held.answer.is_none(),
        }
    }

    /// Stops it; it then prints its answer.
    pub fn stop(&mut self) {
        match self {
            Self::Search(work) | Self::Perft(work) => work.signal(Signal::Stop),
            Self::Held(held) => held.say(),
        }
    }

    /// The opponent has played the move on which the engine ponders. A perft ignores it.
    pub fn ponder_hit(&mut self) {
        match self {
            Self::Search(search) => search.signal(Signal::PonderHit),
            Self::Held(held) if !held.infinite => held.say(),
            Self::Held(_) | Self::Perft(_) => {}
        }
    }
}

/// A search or a perft in a separate thread.
pub struct Background {
    signals: Sender<Signal>,
    state: Arc<State>,
    thread: Thread<Finished>,
}

#[derive(Default)]
struct State {
    stopped: AtomicBool,
    /// Set before the last line is printed, because the next command may follow that line at once.
    answered: AtomicBool,
}

/// The state after a search.
#[derive(Default)]
pub struct Finished {
    /// The planner; `None` if the search failed.
    pub planner: Option<Box<dyn Planner>>,
    /// Time used on the clock; `None` if the search failed, or ended while pondering.
    pub used: Option<Duration>,
}

/// The settings of a search's output.
pub struct Answer {
    pub root: Position,
    pub chess960: bool,
    pub show_wdl: bool,
    pub debug: bool,
    /// Depth, in plies, that the GUI asked for.
    pub asked_depth: Option<u32>,
    /// Maximum number of moves to the mate that the GUI asked for.
    pub mate: Option<u32>,
    /// The time limit by which a limited strength paces its answer.
    pub pace: Option<TimeLimit>,
    pub output: Output,
}

impl Background {
    /// Starts a search, which prints its reports and its best move.
    pub fn search(answer: Answer, planner: Box<dyn Planner>, limits: Limits) -> Result<Self> {
        let (signals, received) = unbounded();
        let mut control = Control::new(limits, received);
        let (board, chess960) = (answer.root.board().clone(), answer.chess960);
        let output = answer.output.clone();
        control.announce_root_moves(move |CurrentMove { depth, mv, number }| {
            let mv = uci_move(&board, mv, chess960);
            output.say(&format!("info depth {depth} currmove {mv} currmovenumber {number}"));
        });
        let search = move |state: &State| answer.run(planner, &mut control, state);
        Self::begin("search", signals, search)
    }

    /// Starts a perft of `depth` plies, which prints the count of each root move.
    pub fn perft(root: Position, depth: u32, chess960: bool, output: Output) -> Result<Self> {
        let count = move |state: &State| {
            let say = &mut |line: &str| output.say(line);
            let counted = divide(&root, depth, chess960, &state.stopped, say);
            state.answered.store(true, Ordering::Release);
            match counted {
                Some(nodes) => output.say(&format!("\nNodes searched: {nodes}")),
                None => output.inform("go perft: stopped"),
            }
            Finished::default()
        };
        // A perft heeds no signal.
        Self::begin("perft", unbounded().0, count)
    }

    fn begin(
        name: &str,
        signals: Sender<Signal>,
        work: impl FnOnce(&State) -> Finished + Send + 'static,
    ) -> Result<Self> {
        let state = Arc::new(State::default());
        let own = state.clone();
        let thread = Thread::start(name, move || work(&own));
        let thread = thread.with_context(|| format!("cannot start the {name} thread"))?;
        Ok(Self { signals, state, thread })
    }

    fn signal(&self, signal: Signal) {
        if signal == Signal::Stop {
            self.state.stopped.store(true, Ordering::Relaxed);
        }
        // Sending fails only if nobody hears it any more, and then the signal is not needed.
        let _ = self.signals.send(signal);
    }

    fn is_ending(&self) -> bool {
        self.state.stopped.load(Ordering::Relaxed) || self.state.answered.load(Ordering::Acquire)
    }

    /// Waits for its end. A panic has been printed by its thread.
    pub fn finish(self) -> Finished {
        self.thread.join().unwrap_or_default()
    }
}

impl Answer {
    /// Searches, and prints the reports and the best move.
    fn run(&self, mut planner: Box<dyn Planner>, control: &mut Control, state: &State) -> Finished {
        let wdl = self.show_wdl.then(|| planner.wdl_model());
        let mut report = |report: &Report| self.output.say(&self.info(report, wdl.as_ref()));
        // Unwind safety: a planner that panics is dropped.
        let search = AssertUnwindSafe(|| {
            if let Some(found) = self.mate.and_then(|moves| find_mate(&self.root, moves, control)) {
                report(&found);
                return Ok(found);
            }
            planner.search(&self.root, control, &mut report)
        });
        let outcome = catch_unwind(search).unwrap_or_else(|_| Err(anyhow!("internal error")));
        control.wait_until_wanted();
        if let Some(limit) = self.pace.filter(|_| outcome.is_ok()) {
            control.pause_until(time_for_choice(&mut *planner, limit));
        }
        let failed = outcome.is_err();
        let pondering = control.limits().ponder;
        let used = outcome.as_ref().ok().filter(|_| !pondering);
        let used = used.map(|report| control.clock_after(report.nodes));
        let best = match outcome {
            Ok(report) => {
                if self.debug {
                    let Report { nodes, scored, waited, .. } = &report;
                    self.output.say(&format!(
                        "info string scored {scored} of {nodes} positions, waited {} ms for the \
                         encoder",
                        waited.as_millis()
                    ));
                }
                if let Some(reason) = control.early_end(self.asked_depth, &report) {
                    self.output.inform(&reason);
                }
                self.best_move(&report)
            }
            Err(error) => {
                // A missing move forfeits the game, so play any legal move if the encoder fails.
                self.output.inform(&format!("search failed: {error:#}"));
                any_move(&self.root, self.chess960)
            }
        };
        state.answered.store(true, Ordering::Release);
        self.output.say(&best);
        Finished { planner: (!failed).then_some(planner), used }
    }

    fn best_move(&self, report: &Report) -> String {
        match line(self.root.board(), self.chess960, &report.pv).as_slice() {
            // After the end of the game there is nothing to ponder on.
            [best, reply, ..] if self.root.after_line(&report.pv[..2]).has_legal_move() => {
                format!("bestmove {best} ponder {reply}")
            }
            [best, ..] => format!("bestmove {best}"),
            [] => any_move(&self.root, self.chess960),
        }
    }

    fn info(&self, report: &Report, wdl: Option<&WdlModel>) -> String {
        let Report { depth, seldepth, multipv, value, bound, nodes, hashfull, tbhits, .. } = report;
        let bound = match bound {
            Bound::Exact => "",
            Bound::Lower => " lowerbound",
            Bound::Upper => " upperbound",
        };
        let milliseconds = report.time.as_millis();
        let nps = (*nodes as f64 / report.time.as_secs_f64().max(1e-6)) as u64;
        let pv = line(self.root.board(), self.chess960, &report.pv).join(" ");
        let wdl = wdl.map_or(String::new(), |model| {
            let [win, draw, loss] = model.permille(*value, self.root.board());
            format!(" wdl {win} {draw} {loss}")
        });
        format!(
            "info depth {depth} seldepth {seldepth} multipv {multipv} score {value}{bound}{wdl} \
             nodes {nodes} nps {nps} hashfull {hashfull} tbhits {tbhits} time {milliseconds} pv {pv}"
        )
    }
}

/// A `bestmove` line with any legal move, or `(none)`.
pub fn any_move(position: &Position, chess960: bool) -> String {
    let board = position.board();
    let mv = legal_moves(board).first().map(|&mv| uci_move(board, mv, chess960));
    format!("bestmove {}", mv.as_deref().unwrap_or("(none)"))
}

/// The `bestmove` of a `go ponder` or `go infinite` that needs no search. UCI does not allow it
/// before `stop` or, while pondering, `ponderhit`.
pub struct HeldAnswer {
    /// `None` once it is said.
    pub answer: Option<String>,
    pub output: Output,
    /// Whether `ponderhit` does not release it.
    pub infinite: bool,
}

impl HeldAnswer {
    fn say(&mut self) {
        if let Some(answer) = self.answer.take() {
            self.output.say(&answer);
        }
    }
}
