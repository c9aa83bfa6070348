//! Azimuth behind the protocol: its options, its encoders, and which of its planners searches.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::bench::{BENCH_RESOURCES, bench};
use super::display;
use super::limited_strength::{LIMITED_DEPTH, noise_of_elo};
use super::options::Options;
use super::output::Output;
use super::program::Program;
use super::workers::Workers;
use crate::bench_positions::BENCH_POSITIONS;
use crate::inference::{Evaluator, Worker};
use crate::position::Position;
use crate::search::{
    Beam, BeamSettings, Control, Explanation, Handicap, Limits, Planner, PlannerKind,
    PlannerSettings, Tablebases, TimeLimit,
};

/// Time that the first `isready` spends on searches.
const WARM_UP: Duration = Duration::from_millis(50);

/// Score cache of `eval`, in megabytes.
const EVAL_HASH_MB: usize = 1;

/// Plies of those searches.
const WARM_UP_DEPTH: u32 = 6;

/// The program.
pub struct Azimuth {
    output: Output,
    options: Options,
    workers: Workers,
    /// The planner whose encoder has run.
    warm: Option<PlannerKind>,
    tablebases: Option<Arc<Tablebases>>,
    /// The planner between searches; `None` before the first and while one runs.
    planner: Option<(PlannerKind, Box<dyn Planner>)>,
    /// The kind of the planner that searches.
    searching: Option<PlannerKind>,
    /// What the errors of a limited strength are drawn from in this game.
    seed: u64,
}

impl Program for Azimuth {
    fn name(&self) -> String {
        concat!("Azimuth ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn command(&self) -> &'static str {
        "azimuth"
    }

    fn options(&self) -> Vec<String> {
        Options::describe()
    }

    /// So that a bad file or too large a cache is refused here, and what was there before stays.
    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        if name.eq_ignore_ascii_case("Clear Hash") {
            self.new_game();
            return Ok(());
        }
        let mut changed = self.options.clone();
        changed.set(name, value)?;
        self.load_changes(&changed)?;
        self.options = changed;
        Ok(())
    }

    fn limit(&self, limits: &mut Limits, analyses: bool) {
        if self.limits_strength(analyses) {
            limits.depth = Some(limits.depth.unwrap_or(LIMITED_DEPTH).min(LIMITED_DEPTH));
            let deviation = noise_of_elo(self.options.elo);
            limits.handicap = Some(Handicap { deviation, seed: self.seed });
        }
    }

    /// Searches for a moment after an encoder was loaded, so that the first move costs no more than the
    /// others: its code, its tables and the cache's memory are then at hand.
    fn warm_up(&mut self, analyses: bool) -> Result<()> {
        let kind = match self.limits_strength(analyses) {
            true => PlannerKind::Beam,
            false => self.preferred_planner()?,
        };
        if self.warm == Some(kind) && self.planner.is_some() {
            return Ok(());
        }
        let mut planner = self.planner_of(kind)?;
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
        self.planner = Some((kind, planner));
        self.warm = Some(kind);
        Ok(())
    }

    fn take_planner(&mut self, limits: &Limits) -> Result<Box<dyn Planner>> {
        let kind = self.planner_for(limits)?;
        let planner = self.planner_of(kind)?;
        self.searching = Some(kind);
        Ok(planner)
    }

    fn put_back(&mut self, planner: Option<Box<dyn Planner>>) {
        // A search that failed has lost its planner; the next one loads it again.
        self.planner = self.searching.take().zip(planner);
    }

    fn new_game(&mut self) {
        if let Some((_, planner)) = &mut self.planner {
            planner.new_game();
        }
        self.seed = rand::random();
    }

    fn evaluate(&mut self, position: &Position, chess960: bool) -> Result<String> {
        let kind = self.preferred_planner()?;
        let evaluator = Evaluator::new(self.worker(kind)?, EVAL_HASH_MB)?;
        display::scores(&mut Beam::new(evaluator, BeamSettings::default()), position, chess960)
    }

    fn explain(&mut self) -> Result<Option<Explanation>> {
        let explained = self.planner.as_mut().map(|(_, planner)| planner.explain(1));
        Ok(explained.transpose()?.flatten())
    }

    fn bench(&mut self, depth: Option<u32>, say: &mut dyn FnMut(&str)) -> Result<()> {
        let mut fresh = |kind| {
            let worker = self.worker(kind)?;
            PlannerSettings::default().build(kind, worker, BENCH_RESOURCES, None)
        };
        let (mut beam, mut selective) = (fresh(PlannerKind::Beam)?, fresh(PlannerKind::Selective)?);
        bench(&mut *beam, &mut *selective, depth, say)
    }
}

impl Azimuth {
    /// A program that has loaded nothing yet; what is to be said of files and devices goes to `output`.
    pub fn new(output: Output) -> Self {
        Self {
            output,
            options: Options::default(),
            workers: Workers::default(),
            warm: None,
            tablebases: None,
            planner: None,
            searching: None,
            seed: rand::random(),
        }
    }

    /// Whether to play worse on purpose. An analysis never is.
    fn limits_strength(&self, analyses: bool) -> bool {
        self.options.limit_strength && !analyses
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

    /// The planner of that kind, taken out; another kind's gives up its memory for it.
    fn planner_of(&mut self, kind: PlannerKind) -> Result<Box<dyn Planner>> {
        match self.planner.take() {
            Some((of, planner)) if of == kind => Ok(planner),
            _ => {
                let (options, tablebases) = (self.options.clone(), self.tablebases.clone());
                Ok(build(self.worker(kind)?, &options, kind, tablebases)?.1)
            }
        }
    }
}

fn build(
    worker: &Worker,
    options: &Options,
    kind: PlannerKind,
    tablebases: Option<Arc<Tablebases>>,
) -> Result<(PlannerKind, Box<dyn Planner>)> {
    Ok((kind, options.planners.build(kind, worker, options.resources, tablebases)?))
}
