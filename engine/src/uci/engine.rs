//! The engine's state, and what each command does to it. A command that fails changes nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::bench::{BENCH_POSITIONS, BENCH_RESOURCES, bench};
use super::command::{Command, Go};
use super::limited_strength::{LIMITED_DEPTH, noise_of_elo};
use super::options::Options;
use super::output::Output;
use super::running_search::{Answer, RunningSearch, any_move};
use super::workers::Workers;
use super::{display, time_management};
use crate::inference::{Evaluator, Worker};
use crate::position::Position;
use crate::search::{
    Beam, BeamSettings, Control, Handicap, Limits, Planner, PlannerKind, PlannerSettings, Signal,
    Tablebases, TimeLimit, Value,
};

/// Time that the first `isready` spends on searches.
const WARM_UP: Duration = Duration::from_millis(50);

/// Score cache of `eval`, in megabytes.
const EVAL_HASH_MB: usize = 1;

/// Plies of those searches.
const WARM_UP_DEPTH: u32 = 6;

/// What the commands act on.
pub struct Engine {
    output: Output,
    options: Options,
    position: Position,
    debug: bool,
    workers: Workers,
    /// The planner whose encoder has run.
    warm: Option<PlannerKind>,
    tablebases: Option<Arc<Tablebases>>,
    /// The planner between searches; `None` before the first and while one runs.
    planner: Option<(PlannerKind, Box<dyn Planner>)>,
    search: Option<(PlannerKind, RunningSearch)>,
    /// What the errors of a limited strength are drawn from in this game.
    seed: u64,
}

impl Engine {
    /// An engine that has loaded nothing yet.
    pub fn new(output: Output) -> Self {
        Self {
            output,
            options: Options::default(),
            position: Position::default(),
            debug: false,
            workers: Workers::default(),
            warm: None,
            tablebases: None,
            planner: None,
            search: None,
            seed: rand::random(),
        }
    }

    /// Executes one command, `quit` apart, which is the caller's.
    pub fn execute(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Uci => self.introduce(),
            Command::Debug(on) => self.debug = on,
            Command::IsReady => {
                let ready = if self.search.is_some() { Ok(()) } else { self.warm_up() };
                self.output.say("readyok");
                ready?;
            }
            Command::SetOption { name, value } => {
                self.await_idle("setoption")?;
                self.set_option(&name, value.as_deref())?;
            }
            Command::NewGame => {
                self.await_idle("ucinewgame")?;
                self.forget();
            }
            Command::Position { fen, moves } => {
                self.await_idle("position")?;
                self.position = set_up(fen.as_deref(), &moves)?;
            }
            Command::Go { go, problem } => {
                self.await_idle("go")?;
                if let Some(problem) = problem {
                    self.output.inform(&problem);
                }
                self.go(&go);
            }
            Command::Stop => self.signal("stop", Signal::Stop)?,
            Command::PonderHit => self.signal("ponderhit", Signal::PonderHit)?,
            Command::Display => {
                self.output.say(&display::board(&self.position, self.options.chess960));
            }
            Command::Eval => {
                self.await_idle("eval")?;
                let (position, chess960) = (self.position.clone(), self.options.chess960);
                let kind = self.preferred_planner()?;
                let beam = Evaluator::new(self.worker(kind)?, EVAL_HASH_MB)?;
                let mut beam = Beam::new(beam, BeamSettings::default());
                let scores = display::scores(&mut beam, &position, chess960)?;
                self.output.say(&scores);
            }
            Command::Explain => {
                self.await_idle("explain")?;
                let explained = self.planner.as_mut().map(|(_, planner)| planner.explain(1));
                let explanation = explained.transpose()?.flatten();
                let explanation = explanation.context("explain: nothing has been searched yet")?;
                self.output.say(&display::explanation(&explanation, self.options.chess960));
            }
            Command::Help => self.output.say(include_str!("help.txt").trim_end()),
            Command::Bench(depth) => {
                self.await_idle("bench")?;
                let output = self.output.clone();
                let mut fresh = |kind| {
                    let worker = self.worker(kind)?;
                    PlannerSettings::default().build(kind, worker, BENCH_RESOURCES, None)
                };
                let (mut beam, mut selective) =
                    (fresh(PlannerKind::Beam)?, fresh(PlannerKind::Selective)?);
                bench(&mut *beam, &mut *selective, depth, &mut |line| output.say(line))?;
            }
            Command::Quit => {}
        }
        Ok(())
    }

    /// Stops the search, if any, and waits for its answer.
    pub fn quit(&mut self) {
        if let Some((_, search)) = &mut self.search {
            search.signal(Signal::Stop);
        }
        self.finish_search();
    }

    fn introduce(&self) {
        self.output.say(concat!("id name Azimuth ", env!("CARGO_PKG_VERSION")));
        self.output.say("id author the Azimuth developers");
        Options::describe().iter().for_each(|option| self.output.say(option));
        self.output.say("uciok");
    }

    /// Takes the planner back from a search that has answered, or was told to. Fails while one is
    /// still running.
    fn await_idle(&mut self, command: &str) -> Result<()> {
        if let Some((_, search)) = &self.search {
            ensure!(search.is_ending(), "{command}: a search is running, send stop first");
            self.finish_search();
        }
        Ok(())
    }

    fn finish_search(&mut self) {
        if let Some((kind, search)) = self.search.take() {
            // A search that failed has lost its planner; the next one loads it again.
            self.planner = search.finish().map(|planner| (kind, planner));
        }
    }

    fn signal(&mut self, command: &str, signal: Signal) -> Result<()> {
        let running = self.search.as_mut().filter(|(_, search)| !search.is_ending());
        running.with_context(|| format!("{command}: no search is running"))?.1.signal(signal);
        Ok(())
    }

    /// Forgets what was learned in the game before.
    fn forget(&mut self) {
        if let Some((_, planner)) = &mut self.planner {
            planner.new_game();
        }
        self.seed = rand::random();
    }

    /// Sets an option and loads what it names, so that a bad file or too large a cache is refused
    /// here and what was there before stays.
    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        if name.eq_ignore_ascii_case("Clear Hash") {
            self.forget();
            return Ok(());
        }
        let mut changed = self.options.clone();
        changed.set(name, value)?;
        if changed.log_file != self.options.log_file {
            self.output.log_to(changed.log_file.as_deref())?;
        }
        self.load_changes(&changed)?;
        self.options = changed;
        Ok(())
    }

    /// Loads what `changed` options name anew, and builds a planner that uses it.
    fn load_changes(&mut self, changed: &Options) -> Result<()> {
        let mut loaded = (changed.model != self.options.model).then(Workers::default);
        let opened = match changed.syzygy_path == self.options.syzygy_path {
            true => None,
            false => Some(self.open_tablebases(changed.syzygy_path.as_deref())?),
        };
        if loaded.is_some() || opened.is_some() || changed.reshapes_planners(&self.options) {
            let kind = match &self.planner {
                Some((kind, _)) => *kind,
                None => changed.planner.unwrap_or(PlannerKind::Selective),
            };
            let tablebases = opened.unwrap_or_else(|| self.tablebases.clone());
            let worker = match &mut loaded {
                Some(workers) => workers.get(&changed.model, kind, &self.output)?,
                None => self.worker(kind)?,
            };
            self.planner = Some(build(worker, changed, kind, tablebases.clone())?);
            self.tablebases = tablebases;
        }
        if let Some(workers) = loaded {
            self.workers = workers;
            self.warm = None;
        }
        Ok(())
    }

    fn open_tablebases(&self, folders: Option<&str>) -> Result<Option<Arc<Tablebases>>> {
        let Some(folders) = folders else { return Ok(None) };
        let output = self.output.clone();
        let tablebases =
            Tablebases::open(folders, Box::new(move |text: &str| output.inform(text)))?;
        self.output.inform(&format!("Syzygy tables of up to {} pieces", tablebases.max_pieces()));
        Ok(Some(Arc::new(tablebases)))
    }

    fn worker(&mut self, kind: PlannerKind) -> Result<&Worker> {
        self.workers.get(&self.options.model, kind, &self.output)
    }

    /// The planner that plays by the clock: the one that was chosen, else the stronger one in a given time. Where
    /// batches go to another thread that is the beam, which makes large ones: the selective search, which wants one
    /// position at a time, has time for few (`bench/results/check-batches.pgn.zst`).
    fn preferred_planner(&mut self) -> Result<PlannerKind> {
        if let Some(planner) = self.options.planner {
            return Ok(planner);
        }
        let in_searches = self.worker(PlannerKind::Selective)?.runs_in_searches();
        Ok(if in_searches { PlannerKind::Selective } else { PlannerKind::Beam })
    }

    /// The planner of a search: the paper's, unless time or a signal ends it. Then it is the stronger one.
    /// Limited strength was measured with the beam.
    fn planner_for(&mut self, limits: &Limits) -> Result<PlannerKind> {
        Ok(match self.options.planner {
            _ if limits.handicap.is_some() => PlannerKind::Beam,
            None if !limits.are_open_ended() => PlannerKind::Beam,
            _ => self.preferred_planner()?,
        })
    }

    /// Searches for a moment after an encoder was loaded, so that the first move costs no more than the
    /// others: its code, its tables and the cache's memory are then at hand.
    fn warm_up(&mut self) -> Result<()> {
        let kind = match self.options.limits_strength() {
            true => PlannerKind::Beam,
            false => self.preferred_planner()?,
        };
        if self.warm == Some(kind) && self.planner.is_some() {
            return Ok(());
        }
        let planner = self.planner(kind)?;
        let began = Instant::now();
        for fen in BENCH_POSITIONS {
            let time = Some(TimeLimit { soft: WARM_UP, hard: WARM_UP });
            let limits = Limits { depth: Some(WARM_UP_DEPTH), time, ..Limits::default() };
            let mut control = Control::without_signals(limits);
            planner.search(&Position::from_fen(fen)?, &mut control, &mut |_| ())?;
            if began.elapsed() > WARM_UP {
                break;
            }
        }
        planner.new_game();
        self.warm = Some(kind);
        Ok(())
    }

    /// The planner of that kind; another kind's gives up its memory for it.
    fn planner(&mut self, kind: PlannerKind) -> Result<&mut dyn Planner> {
        let planner = match self.planner.take() {
            Some(planner) if planner.0 == kind => planner,
            _ => {
                let (options, tablebases) = (self.options.clone(), self.tablebases.clone());
                build(self.worker(kind)?, &options, kind, tablebases)?
            }
        };
        Ok(self.planner.insert(planner).1.as_mut())
    }

    /// Begins a search; whatever comes in its way, there is an answer.
    fn go(&mut self, go: &Go) {
        if !self.position.has_legal_move() {
            let mated = !self.position.board().checkers().is_empty();
            let value = if mated { Value::mated_in(0) } else { Value::DRAW };
            self.output.say(&format!("info depth 0 score {value}"));
            self.output.inform(if mated { "go: checkmate" } else { "go: stalemate" });
            self.output.say(&any_move(&self.position, self.options.chess960));
        } else if let Err(error) = self.begin_search(go) {
            self.output.inform(&format!("{error:#}"));
            self.output.say(&any_move(&self.position, self.options.chess960));
        }
    }

    fn begin_search(&mut self, go: &Go) -> Result<()> {
        let limits = self.limits(go);
        let kind = self.planner_for(&limits)?;
        self.planner(kind)?;
        let answer = Answer {
            root: self.position.clone(),
            chess960: self.options.chess960,
            show_wdl: self.options.show_wdl,
            debug: self.debug,
            output: self.output.clone(),
        };
        if let Some((kind, planner)) = self.planner.take() {
            self.search = Some((kind, RunningSearch::begin(answer, planner, limits)?));
        }
        Ok(())
    }

    fn limits(&self, go: &Go) -> Limits {
        let moves = go.search_moves.iter().map(|text| self.position.parse_move(text));
        let (moves, illegal): (Vec<_>, Vec<_>) = moves.partition(Result::is_ok);
        if let Some(Err(error)) = illegal.first() {
            self.output.inform(&format!("go: searchmoves: {error:#}"));
        }
        let side = self.position.board().side_to_move();
        // A mate in n moves is at most 2n - 1 plies away.
        let mate_depth = go.mate.map(|moves| moves.saturating_mul(2).saturating_sub(1));
        let limited = self.options.limits_strength();
        let handicap = Handicap { deviation: noise_of_elo(self.options.elo), seed: self.seed };
        let deepest = go.depth.or(mate_depth);
        Limits {
            depth: match limited {
                true => Some(deepest.unwrap_or(LIMITED_DEPTH).min(LIMITED_DEPTH)),
                false => deepest,
            },
            nodes: go.nodes,
            time: time_management::budget(go, side, self.options.move_overhead),
            infinite: go.infinite,
            ponder: go.ponder,
            search_moves: moves.into_iter().flatten().collect(),
            multipv: self.options.multipv,
            handicap: limited.then_some(handicap),
        }
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

fn build(
    worker: &Worker,
    options: &Options,
    kind: PlannerKind,
    tablebases: Option<Arc<Tablebases>>,
) -> Result<(PlannerKind, Box<dyn Planner>)> {
    Ok((kind, options.planners.build(kind, worker, options.resources, tablebases)?))
}
