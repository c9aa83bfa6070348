//! The programs behind the UCI protocol: the Azimuth engine, with its options, its encoders and the
//! choice of planner, and a program with a single planner.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_chess::position::Position;
use azimuth_search::host::Instant;
use azimuth_search::inference::Worker;
use azimuth_search::names::name_of;
use azimuth_search::{
    Beam, BeamSettings, Control, Explanation, Limits, Planner, PlannerKind, PlannerSettings,
    Resources, THREADS_PER_PROCESSOR, Tablebases, TimeLimit,
};

use super::bench::{BENCH_RESOURCES, bench, bench_planner, bench_searches};
use super::command::Bench;
use super::engine::Program;
use super::options::Options;
use super::output::{Output, scores};
use crate::limited_strength::{Level, WEAKEST_TO_STRONGEST};
use crate::session::{Models, Plan, TABLES, open_tablebases};

/// Search time of the warm-up at `isready`.
const WARM_UP: Duration = Duration::from_millis(50);

/// Search depth of the warm-up, in plies.
const WARM_UP_DEPTH: u32 = 6;

/// Size of the score cache of `eval`, in megabytes.
const EVAL_HASH_MB: usize = 1;

pub struct Azimuth {
    output: Output,
    options: Options,
    models: Models,
    /// The plan that was last warmed up.
    warm: Option<Plan>,
    /// Whether the planner has searched in this game.
    has_searched: bool,
    /// The idle planner. `None` before the first search and during a search.
    planner: Option<(Plan, Box<dyn Planner>)>,
    /// The plan of the running search.
    searching: Option<Plan>,
    /// Seed of the noise of a limited strength; drawn anew for each game.
    seed: u64,
}

impl Program for Azimuth {
    fn name(&self) -> String {
        concat!("Azimuth ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn options(&self) -> Vec<String> {
        Options::describe()
    }

    /// Loads the changes before it stores them, so that an invalid file or an oversized cache is an
    /// error here and the previous options remain in use.
    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        if name.eq_ignore_ascii_case("Clear Hash") {
            self.new_game();
            return Ok(());
        }
        let mut changed = self.options.clone();
        changed.set(name, value)?;
        self.load_changes(&changed)?;
        self.options = changed;
        let strongest = *WEAKEST_TO_STRONGEST.end();
        let Options { skill, elo, resources, .. } = self.options;
        let (asked, threads) = (resources.threads, resources.on_this_machine().threads);
        let limited = self.options.limited_elo().filter(|&elo| elo > strongest);
        self.output.inform(&match name.to_ascii_lowercase().as_str() {
            "threads" if threads < asked => format!(
                "Threads {asked}: {threads} search, {THREADS_PER_PROCESSOR} for each processor"
            ),
            "skill level" if let Some(elo) = limited => format!(
                "Skill Level {skill}: {elo} Elo in Stockfish; a limited strength ends at \
                 {strongest}"
            ),
            "uci_elo" if elo > strongest => format!(
                "UCI_Elo {elo}: beyond {strongest}, which is measured, the strength is not limited"
            ),
            _ => return Ok(()),
        });
        Ok(())
    }

    fn limit(&self, limits: &mut Limits, position: &Position, analyses: bool) {
        if let Some(level) = self.level(analyses) {
            level.limit(limits, position, self.seed);
        }
    }

    /// Searches briefly after an encoder is loaded, so that the first move is not slower than later
    /// ones: the warm-up loads code and tables and touches the cache's memory.
    fn warm_up(&mut self, analyses: bool) -> Result<()> {
        let plan = match self.level(analyses) {
            Some(level) => Plan::limited(level, self.options.planners),
            None => self.preferred_plan()?,
        };
        // The tables of a running game are kept.
        if self.planner.is_some() && (self.has_searched || self.warm == Some(plan)) {
            return Ok(());
        }
        let mut planner = self.planner_of(plan)?;
        let began = Instant::now();
        for fen in BENCH_POSITIONS {
            let (depth, time) = (Some(WARM_UP_DEPTH), Some(TimeLimit::exactly(WARM_UP)));
            let limits = Limits { depth, time, ..Limits::default() };
            let mut control = Control::without_signals(limits);
            planner.search(&Position::from_fen(fen)?, &mut control, &mut |_| ())?;
            if began.elapsed() > WARM_UP {
                break;
            }
        }
        planner.new_game();
        self.planner = Some((plan, planner));
        self.warm = Some(plan);
        Ok(())
    }

    fn take_planner(&mut self, limits: &Limits) -> Result<Box<dyn Planner>> {
        let plan = self.plan_for(limits)?;
        let planner = self.planner_of(plan)?;
        self.searching = Some(plan);
        Ok(planner)
    }

    fn put_back(&mut self, planner: Option<Box<dyn Planner>>) {
        // A failed search returns no planner; the next search builds one.
        self.planner = self.searching.take().zip(planner);
        self.has_searched = self.planner.is_some();
    }

    fn new_game(&mut self) {
        self.has_searched = false;
        if let Some((_, planner)) = &mut self.planner {
            planner.new_game();
        }
        self.seed = rand::random();
    }

    fn evaluate(&mut self, position: &Position, chess960: bool) -> Result<String> {
        let embedded = self.preferred_plan()?.embedded();
        let settings = PlannerSettings { beam: BeamSettings::PAPER, ..PlannerSettings::default() };
        let resources = Resources { hash_mb: EVAL_HASH_MB, threads: 1 };
        let beam = |worker: &Worker| Beam::new(worker, &settings, resources);
        let mut beam = self.models.with_worker(embedded, beam)?;
        scores(&mut beam, position, chess960)
    }

    fn explain(&mut self) -> Result<Option<Explanation>> {
        self.planner.as_mut().map_or(Ok(None), |(_, planner)| planner.explain(1))
    }

    fn bench(&mut self, asked: &Bench, current: &Position, output: &Output) -> Result<()> {
        match asked {
            Bench::Fixed(depth) => {
                let build = |kind, beam| {
                    let settings = PlannerSettings { beam, ..PlannerSettings::default() };
                    self.models.with_worker(settings.default_weights(kind), |worker| {
                        settings.build(kind, worker, BENCH_RESOURCES, None)
                    })
                };
                bench(build, *depth, output)
            }
            // With the planner for timed games and the current options.
            Bench::Searches { hash_mb, threads, positions, task } => {
                let mut asked = Options::default();
                asked.set("Hash", Some(&hash_mb.to_string())).context("bench")?;
                asked.set("Threads", Some(&threads.to_string())).context("bench")?;
                let plan = self.preferred_plan()?;
                let mut planner = self.models.planner(plan, asked.resources)?;
                bench_searches(
                    &mut *planner,
                    &name_of(&plan.kind),
                    (positions, task),
                    current,
                    output,
                )
            }
        }
    }
}

impl Azimuth {
    /// Creates an engine without loading anything. Messages about files and devices go to `output`.
    pub fn new(output: Output) -> Self {
        let options = Options::default();
        let tablebases = Arc::new(Tablebases::embedded(TABLES, output.notice()));
        Self {
            models: Models::new(options.model.clone(), tablebases, output.notice()),
            output,
            options,
            warm: None,
            has_searched: false,
            planner: None,
            searching: None,
            seed: rand::random(),
        }
    }

    /// The limited strength, if any. Analysis is never limited.
    fn level(&self, analyses: bool) -> Option<Level> {
        self.options.limited_elo().filter(|_| !analyses).map(Level::of)
    }

    /// Loads the files that changed in `changed`, and builds a planner that uses them.
    fn load_changes(&mut self, changed: &Options) -> Result<()> {
        let same_path = changed.syzygy_path == self.options.syzygy_path;
        let opened = match same_path && changed.probing == self.options.probing {
            true => None,
            false => Some(self.open_tablebases(changed, !same_path)?),
        };
        let has_other_tables = opened.is_some();
        let tablebases = opened.unwrap_or_else(|| self.models.tablebases.clone());
        let loaded = (changed.model != self.options.model)
            .then(|| Models::new(changed.model.clone(), tablebases.clone(), self.output.notice()));
        let reshaped = (changed.resources, changed.planners)
            != (self.options.resources, self.options.planners);
        if loaded.is_some() || has_other_tables || reshaped {
            let kind = match &self.planner {
                Some((plan, _)) => plan.kind,
                None => changed.planner.unwrap_or(PlannerKind::Selective),
            };
            let plan = Plan::of(kind, changed.planners);
            let models = loaded.as_ref().unwrap_or(&self.models);
            let planner = models.planner_with(plan, changed.resources, tablebases.clone())?;
            self.planner = Some((plan, planner));
            self.has_searched = false;
            self.models.tablebases = tablebases;
        }
        if let Some(models) = loaded {
            self.models = models;
            self.warm = None;
        }
        Ok(())
    }

    /// Opens the tablebases that the options name. If their path is `new`, reports the number of
    /// pieces.
    fn open_tablebases(&self, options: &Options, new: bool) -> Result<Arc<Tablebases>> {
        let tables = open_tablebases(options.syzygy_path.as_deref(), self.output.notice())?;
        if new {
            let pieces = tables.max_pieces();
            self.output.inform(&format!("Syzygy tables of up to {pieces} pieces"));
        }
        Ok(Arc::new(tables.with_probing(options.probing)))
    }

    /// The planner for timed games: the `Planner` option, else the stronger planner at equal time.
    /// That is the beam if batches go to another thread, because the beam makes large batches; the
    /// selective search needs one position at a time and gets few evaluations
    /// (`bench/results/check-batches.pgn.zst`).
    fn preferred_plan(&mut self) -> Result<Plan> {
        let settings = self.options.planners;
        let selective = Plan::of(PlannerKind::Selective, settings);
        if let Some(kind) = self.options.planner {
            return Ok(Plan::of(kind, settings));
        }
        let in_searches = |worker: &Worker| Ok(worker.runs_in_searches());
        let in_searches = self.models.with_worker(selective.embedded(), in_searches)?;
        Ok(if in_searches { selective } else { Plan::of(PlannerKind::Beam, settings) })
    }

    /// The plan of a search: that of a limited strength; the beam if the `Planner` option is
    /// automatic, depth is the only limit and it is within the beam's range; else
    /// [`Self::preferred_plan`].
    fn plan_for(&mut self, limits: &Limits) -> Result<Plan> {
        let settings = self.options.planners;
        // Only a limited strength has a handicap.
        let level = limits.handicap.and_then(|_| self.level(false));
        match self.options.planner {
            _ if let Some(level) = level => Ok(Plan::limited(level, settings)),
            None if settings.is_for_the_beam(limits) => Ok(Plan::of(PlannerKind::Beam, settings)),
            _ => self.preferred_plan(),
        }
    }

    /// Takes the planner of `plan`, or builds it after dropping the previous one to free its
    /// memory.
    fn planner_of(&mut self, plan: Plan) -> Result<Box<dyn Planner>> {
        if let Some((_, planner)) = self.planner.take().filter(|(known, _)| *known == plan) {
            return Ok(planner);
        }
        self.models.planner(plan, self.options.resources)
    }
}

/// Builds the planner of a [`SinglePlanner`]: at the start, and again after a failed search.
pub type Build = Box<dyn Fn() -> Result<Box<dyn Planner>>>;

/// A program with a single planner and no options.
pub struct SinglePlanner {
    name: String,
    build: Build,
    /// The idle planner; `None` during a search and after a failed one.
    planner: Option<Box<dyn Planner>>,
}

impl SinglePlanner {
    pub fn new(name: String, build: Build) -> Result<Self> {
        let planner = Some(build()?);
        Ok(Self { name, build, planner })
    }

    fn planner(&mut self) -> Result<&mut Box<dyn Planner>> {
        Ok(match &mut self.planner {
            Some(planner) => planner,
            lost => lost.insert((self.build)()?),
        })
    }
}

impl Program for SinglePlanner {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn warm_up(&mut self, _analyses: bool) -> Result<()> {
        self.planner()?;
        Ok(())
    }

    fn take_planner(&mut self, _limits: &Limits) -> Result<Box<dyn Planner>> {
        self.planner.take().map_or_else(|| (self.build)(), Ok)
    }

    fn put_back(&mut self, planner: Option<Box<dyn Planner>>) {
        self.planner = planner;
    }

    fn new_game(&mut self) {
        if let Some(planner) = &mut self.planner {
            planner.new_game();
        }
    }

    fn evaluate(&mut self, position: &Position, chess960: bool) -> Result<String> {
        scores(&mut **self.planner()?, position, chess960)
    }

    fn explain(&mut self) -> Result<Option<Explanation>> {
        self.planner()?.explain(1)
    }

    fn bench(&mut self, bench: &Bench, _: &Position, output: &Output) -> Result<()> {
        let Bench::Fixed(depth) = bench else {
            bail!("bench: expected a depth alone; '{}' has no hash and threads to set", self.name);
        };
        let name = self.name.clone();
        let cost = bench_planner(&mut **self.planner()?, &name, *depth, output)?;
        output.say(&cost.to_string());
        Ok(())
    }
}
