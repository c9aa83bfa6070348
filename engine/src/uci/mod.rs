//! The protocol: one loop that reads commands and owns the state. Searches run on a thread of their
//! own and print their own answers.

mod command;
mod options;
mod time;

use std::io::{BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Device};
use cozy_chess::{Board, Move};
use crossbeam_channel::{Sender, unbounded};

use crate::inference::{Evaluator, Worker};
use crate::position::{Position, uci_move};
use crate::search::{Beam, Control, Limits, Planner, Report, Signal};
use crate::text::shortened;
use crate::weights::Weights;
pub use command::Go;
use command::{Command, parse};
use options::Options;
pub use time::budget;

/// Longest line that is read; the rest of it is skipped.
const LINE_LIMIT: u64 = 1 << 20;

/// Characters of an `info string` line about a problem: enough for a long path and a FEN.
const PROBLEM_LIMIT: usize = 600;

/// Reads commands from `input` until `quit` or its end, and answers on standard output. At the end of
/// the input a search that has a limit is let come to it; `quit` stops it.
pub fn run(input: impl BufRead) {
    let mut engine = Engine::default();
    if obey_all(&mut engine, input) {
        engine.signal(Signal::Stop);
    }
    engine.finish_search();
}

/// Whether the input ended with `quit`.
fn obey_all(engine: &mut Engine, mut input: impl BufRead) -> bool {
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
        if line.len() as u64 == LINE_LIMIT && line.last() != Some(&b'\n') {
            if input.skip_until(b'\n').is_err() {
                return false;
            }
            complain("line too long, skipped");
            continue;
        }
        match parse(&String::from_utf8_lossy(&line)) {
            Ok(Some(Command::Quit)) => return true,
            Ok(Some(command)) => {
                if let Err(error) = engine.obey(command) {
                    complain(&format!("{error:#}"));
                }
            }
            Ok(None) => {}
            Err(error) => complain(&format!("{error:#}")),
        }
    }
}

/// A line to the GUI. One that has gone away cannot be helped.
fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

fn complain(problem: &str) {
    let line = problem.replace(['\n', '\r'], " ");
    say(&format!("info string {}", shortened(&line, PROBLEM_LIMIT)));
}

/// What the commands act on.
#[derive(Default)]
struct Engine {
    options: Options,
    position: Position,
    /// The planner between searches; `None` before the first and while one runs.
    planner: Option<Box<dyn Planner>>,
    search: Option<RunningSearch>,
}

struct RunningSearch {
    signals: Sender<Signal>,
    /// Set before the best move is printed: from then on the next command may follow.
    answered: Arc<AtomicBool>,
    thread: JoinHandle<Box<dyn Planner>>,
}

impl Engine {
    fn obey(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Uci => {
                say(concat!("id name Azimuth ", env!("CARGO_PKG_VERSION")));
                say("id author the Azimuth developers");
                Options::describe().iter().for_each(|option| say(option));
                say("uciok");
            }
            Command::IsReady => {
                // The first one loads and warms up, so that the first move is as fast as any.
                let loaded = if self.search.is_some() { Ok(()) } else { self.load() };
                if let Err(error) = loaded {
                    complain(&format!("{error:#}"));
                }
                say("readyok");
            }
            Command::SetOption { name, value } => {
                self.await_idle("setoption")?;
                self.set_option(&name, value.as_deref())?;
            }
            Command::NewGame => {
                self.await_idle("ucinewgame")?;
                if let Some(planner) = &mut self.planner {
                    planner.new_game();
                }
            }
            Command::Position { fen, moves } => {
                self.await_idle("position")?;
                self.position = set_up(fen.as_deref(), &moves)?;
            }
            Command::Go(go) => {
                self.await_idle("go")?;
                self.go(&go)?;
            }
            Command::Stop => self.signal(Signal::Stop),
            Command::PonderHit => self.signal(Signal::PonderHit),
            Command::Quit => {}
        }
        Ok(())
    }

    /// Takes the planner back from a search that has answered. Fails while one is still running.
    fn await_idle(&mut self, command: &str) -> Result<()> {
        if let Some(search) = &self.search {
            ensure!(
                search.answered.load(Ordering::Acquire),
                "{command}: a search is running, send stop first"
            );
            self.finish_search();
        }
        Ok(())
    }

    /// Waits for the search, if any, and takes the planner back. With nobody left to stop it, a
    /// search without a limit ends.
    fn finish_search(&mut self) {
        if let Some(RunningSearch { signals, thread, .. }) = self.search.take() {
            drop(signals);
            // A search that failed has lost its planner; the next one loads it again.
            self.planner = thread.join().ok();
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(search) = &self.search {
            let _ = search.signals.send(signal);
        }
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let mut changed = self.options.clone();
        changed.set(name, value)?;
        if changed == self.options {
            return Ok(());
        }
        if changed.weights != self.options.weights {
            // Read now, so that a bad file is refused here and the old weights stay.
            self.planner = Some(build_planner(&changed)?);
        } else if changed.hash_mb != self.options.hash_mb || changed.beam != self.options.beam {
            self.planner = None;
        }
        self.options = changed;
        Ok(())
    }

    fn load(&mut self) -> Result<()> {
        if self.planner.is_none() {
            self.planner = Some(build_planner(&self.options)?);
        }
        Ok(())
    }

    fn go(&mut self, go: &Go) -> Result<()> {
        if !self.position.has_legal_move() {
            complain("the game is over in this position");
            say("bestmove (none)");
            return Ok(());
        }
        let limits = self.limits(go)?;
        let mut planner = match self.planner.take() {
            Some(planner) => planner,
            None => build_planner(&self.options)?,
        };
        let (signals, received) = unbounded();
        let answered = Arc::new(AtomicBool::new(false));
        let answer = Answer {
            root: self.position.clone(),
            chess960: self.options.chess960,
            answered: answered.clone(),
        };
        let mut control = Control::new(limits, received);
        let thread = thread::Builder::new()
            .name("search".to_owned())
            .spawn(move || {
                answer.search_and_print(&mut *planner, &mut control);
                planner
            })
            .context("cannot start the search thread")?;
        self.search = Some(RunningSearch { signals, answered, thread });
        Ok(())
    }

    fn limits(&self, go: &Go) -> Result<Limits> {
        let moves = go.search_moves.iter().map(|text| self.position.parse_move(text));
        let side = self.position.board().side_to_move();
        // A mate in n moves is at most 2n - 1 plies away.
        let mate_depth = go.mate.map(|moves| moves.saturating_mul(2).saturating_sub(1));
        Ok(Limits {
            depth: go.depth.or(mate_depth),
            nodes: go.nodes,
            time: time::budget(go, side, self.options.move_overhead),
            infinite: go.infinite,
            ponder: go.ponder,
            moves: moves.collect::<Result<_>>()?,
        })
    }
}

fn set_up(fen: Option<&str>, moves: &[String]) -> Result<Position> {
    let mut position = match fen {
        Some(fen) => Position::from_fen(fen)?,
        None => Position::default(),
    };
    for mv in moves {
        let mv = position.parse_move(mv)?;
        position.play(mv);
    }
    Ok(position)
}

fn build_planner(options: &Options) -> Result<Box<dyn Planner>> {
    let weights = Weights::read_or_embedded(options.weights.as_deref())?;
    let worker = Worker::start(Arc::new(weights), &Device::Cpu, DType::F32, Box::new(complain))?;
    let mut planner = Beam::new(Evaluator::new(&worker, options.hash_mb), options.beam);
    let (_signals, received) = unbounded();
    let mut warm_up = Control::new(Limits { depth: Some(1), ..Limits::default() }, received);
    planner.search(&Position::default(), &mut warm_up, &mut |_| ())?;
    planner.new_game();
    Ok(Box::new(planner))
}

/// What the search thread needs to print its answer.
struct Answer {
    root: Position,
    chess960: bool,
    answered: Arc<AtomicBool>,
}

impl Answer {
    fn search_and_print(&self, planner: &mut dyn Planner, control: &mut Control) {
        let outcome = planner.search(&self.root, control, &mut |report| say(&self.info(report)));
        control.wait_until_wanted();
        let answer = match outcome {
            Ok(report) => {
                let line = self.line(&report.pv);
                match line.as_slice() {
                    [best, reply, ..] => format!("bestmove {best} ponder {reply}"),
                    [best] => format!("bestmove {best}"),
                    [] => "bestmove (none)".to_owned(),
                }
            }
            Err(error) => {
                // A game goes on even where the encoder fails: any legal move beats a forfeit.
                complain(&format!("search failed: {error:#}"));
                let any = first_legal_move(self.root.board());
                any.map_or("bestmove (none)".to_owned(), |mv| {
                    format!("bestmove {}", uci_move(self.root.board(), mv, self.chess960))
                })
            }
        };
        self.answered.store(true, Ordering::Release);
        say(&answer);
    }

    fn info(&self, report: &Report) -> String {
        let Report { depth, seldepth, value, nodes, hashfull, .. } = report;
        let milliseconds = report.time.as_millis();
        let nps = (*nodes as f64 / report.time.as_secs_f64().max(1e-6)) as u64;
        let pv = self.line(&report.pv).join(" ");
        format!(
            "info depth {depth} seldepth {seldepth} multipv 1 score {value} nodes {nodes} \
             nps {nps} hashfull {hashfull} time {milliseconds} pv {pv}"
        )
    }

    fn line(&self, pv: &[Move]) -> Vec<String> {
        let mut board = self.root.board().clone();
        let mut line = Vec::with_capacity(pv.len());
        for &mv in pv {
            line.push(uci_move(&board, mv, self.chess960));
            board.play_unchecked(mv);
        }
        line
    }
}

fn first_legal_move(board: &Board) -> Option<Move> {
    let mut first = None;
    board.generate_moves(|moves| {
        first = moves.into_iter().next();
        first.is_some()
    });
    first
}
