//! The beam as a planner: a main thread that deepens and reports, and helper threads.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_network::policy::Policy;
use crossbeam_channel::unbounded;

use super::batched_quiescence::Rules;
use super::iteration::{GrownAgain, MainSearch, Schedule, help};
use super::search::{BeamSearch, Task};
use super::settings::{BeamSettings, BeamVerify};
use super::tree::ProvenMates;
use super::verification::{Horizons, Verifier};
use crate::control::{Control, Limits, Report};
use crate::explanation::{Explanation, LastSearch, SearchedMove};
use crate::host::start_helpers;
use crate::inference::{Evaluator, Notice, Worker};
use crate::iterative_deepening::{RootMoves, deepen};
use crate::planner::{Planner, PlannerSettings, Resources};
use crate::selective::{SearchTables, ShallowSearch};
use crate::tablebase::Tablebases;
use crate::value::{Bound, Value, static_value};

/// The paper's planner. Without verification by searches, the number of threads changes no choice
/// at a fixed depth: helpers search the same tree in another order, so that the main thread finds
/// their scores in the cache.
pub struct Beam {
    evaluators: Vec<Evaluator>,
    settings: BeamSettings,
    /// Tables of the verifying searches, if the encoder runs on the search threads.
    verification: Option<SearchTables>,
    /// Rules of the batched quiescence search that verifies scores, if the encoder runs elsewhere.
    quiescence: Option<Rules>,
    policy: Option<Arc<Policy>>,
    tablebases: Option<Arc<Tablebases>>,
    mates: ProvenMates,
    last: LastSearch,
    /// Moves kept at each node by the last finished iteration.
    last_width: usize,
    /// Horizon of the last search's verification, in plies from the root; `None` if it verified
    /// nothing.
    last_horizon: Option<u32>,
    /// Gets a message once, if the system refuses threads.
    refusal: Option<Notice>,
}

impl Beam {
    /// A planner with a score cache and, if it verifies by searches, tables. Fails if memory for
    /// them is missing.
    pub fn new(worker: &Worker, settings: &PlannerSettings, resources: Resources) -> Result<Self> {
        let Resources { hash_mb, threads } = resources;
        let threads = threads.max(1);
        let PlannerSettings { beam, selective } = *settings;
        let verifies = beam.verify.plies().is_some() && worker.runs_in_searches();
        let in_batches = beam.verify.plies().is_some() && !worker.runs_in_searches();
        let cache_mb = if verifies { (hash_mb / 4).max(1) } else { hash_mb };
        let all = if verifies { 2 * threads } else { threads };
        let mut evaluators = Evaluator::new(worker, cache_mb)?.for_threads(worker, all);
        let verifying = evaluators.split_off(threads);
        let uses_policy = beam.policy && beam.verify == BeamVerify::None;
        let table_mb = hash_mb.saturating_sub(cache_mb);
        let tables = || SearchTables::new(verifying, selective, table_mb, worker.notice());
        let verification = verifies.then(tables).transpose()?;
        if let Some(tables) = &verification {
            evaluators.truncate(tables.threads.len());
        }
        Ok(Self {
            evaluators,
            settings: beam,
            verification,
            quiescence: Rules::of(&selective).filter(|_| in_batches),
            policy: worker.policy().filter(|_| uses_policy).cloned(),
            tablebases: None,
            mates: ProvenMates::default(),
            last: LastSearch::default(),
            last_width: 0,
            last_horizon: None,
            refusal: Some(worker.notice().clone()),
        })
    }

    /// Sets the tablebases that later searches probe.
    pub fn set_tablebases(&mut self, tablebases: Option<Arc<Tablebases>>) {
        self.tablebases = tablebases;
    }

    /// The line of a mate that an earlier search proved; `None` if `control` restricts the root
    /// moves or asks for several lines.
    fn known_mate(&self, root: &Position, control: &Control) -> Option<Report> {
        let limits = control.limits();
        let free = limits.search_moves.is_empty() && limits.multipv <= 1;
        let (value, pv) = free.then(|| self.mates.line(root))??;
        let depth = pv.len() as u32;
        let hashfull = self.evaluators.first().map_or(0, Evaluator::permille_full);
        Some(Report { depth, seldepth: depth, hashfull, ..Report::of(value, pv) })
    }
}

impl Planner for Beam {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        if let Some(known) = self.known_mate(root, control) {
            report(&known);
            // The search that proved the mate in this position explains all moves.
            if !self.last.is_of(root) {
                let mv = *known.pv.first().context("a mate without a move")?;
                let (value, bound, depth) = (known.value, Bound::Exact, known.depth);
                self.last = LastSearch::new(root, vec![SearchedMove { mv, value, bound, depth }]);
                self.last_horizon = None;
            }
            return Ok(known);
        }
        let settings = self.settings;
        let tablebases = control.limits().tablebases(self.tablebases.as_deref(), root);
        let refusal = &mut self.refusal;
        let root_moves = RootMoves::new(root, control.limits(), tablebases);
        let tablebases = tablebases.filter(|_| !root_moves.are_known());
        let limits = Limits { ponder: true, ..control.limits().clone() };
        let asked = control.limits();
        let open_ended = asked.depth.is_none() && asked.are_open_ended();
        let schedule = Schedule::new(settings, open_ended);
        let nodes = AtomicU64::new(0);
        let (main, helpers) = self.evaluators.split_first_mut().context("no thread to search")?;
        // A limited strength adds noise to the scores of the embeddings, so nothing is verified.
        let verifies = asked.handicap.is_none();
        let quiescence = self.quiescence.filter(|_| verifies);
        let tables = self.verification.as_mut().filter(|_| verifies);
        let begun = tables.map(|tables| tables.begin_search(root, tablebases));
        let (shared, verifying) = begun.unzip();
        let verifies = shared.is_some();
        let beyond = settings.verify.plies().unwrap_or(0);
        let last_depth = (!asked.are_open_ended()).then(|| asked.depth.unwrap_or(settings.depth));
        let horizons = Horizons::Beyond { beyond, last_depth };
        let mut searches = verifying.into_iter().flatten().zip(&shared);
        let mut verifier = move || {
            let (data, shared) = searches.next()?;
            Some(Verifier::new(ShallowSearch::new(data, shared), horizons))
        };
        let (best, finished) = thread::scope(|scope| {
            let task = Task {
                settings,
                quiescence,
                policy: self.policy.as_deref(),
                tablebases,
                root,
                root_moves: &root_moves.moves,
                nodes: &nodes,
                thread: 0,
            };
            let mut stops = Vec::new();
            let main_verifier = verifier();
            let helpers = (1..).zip(helpers).map(|(thread, evaluator)| {
                let verifier = verifier();
                let (stop, signals) = unbounded();
                let (limits, schedule) = (limits.clone(), schedule.clone());
                stops.push(stop);
                move || {
                    let control = &mut Control::new(limits, signals);
                    let search =
                        BeamSearch::new(evaluator, Task { thread, ..task }, verifier, control);
                    help(search, schedule);
                }
            });
            start_helpers(scope, helpers.collect(), refusal);
            let search = BeamSearch::new(main, task, main_verifier, control);
            let mut deepening = MainSearch::new(search, schedule, settings.depth);
            let best = deepen(&mut deepening, &root_moves, report);
            // Dropping the senders stops the helpers, whether or not the search succeeded.
            drop(stops);
            let best = best?;
            let plies = best.value.plies_to_mate();
            // A mate by the root's side is played to its end.
            if let Some(plies) = plies.filter(|_| best.value > Value::DRAW) {
                self.mates = deepening.search.tree.proven_mates(plies);
            }
            self.last = LastSearch::new(root, deepening.searched);
            deepening.search.discard();
            anyhow::Ok((best, deepening.finished))
        })?;
        self.last_width = finished.map_or(settings.width, |last| last.width);
        let verified = finished.filter(|_| verifies);
        self.last_horizon = verified.map(|last| horizons.of_iteration(last.depth));
        Ok(best)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        let evaluator = self.evaluators.first_mut().context("no thread to search")?;
        static_value(evaluator, position, 0)
    }

    fn explain(&mut self, plies: u32) -> Result<Option<Explanation>> {
        let mut tree = GrownAgain {
            evaluator: self.evaluators.first_mut().context("no thread to search")?,
            verification: self.verification.as_mut().zip(self.last_horizon),
            quiescence: self.quiescence,
            policy: self.policy.as_deref(),
            settings: BeamSettings { width: self.last_width, ..self.settings },
            tablebases: self.tablebases.as_deref(),
        };
        self.last.explain(plies, &mut tree)
    }

    fn tablebases(&self) -> Option<&Tablebases> {
        self.tablebases.as_deref()
    }

    fn new_game(&mut self) {
        // All evaluators share one cache.
        if let Some(evaluator) = self.evaluators.first_mut() {
            evaluator.clear_cache();
        }
        if let Some(tables) = &mut self.verification {
            tables.clear();
        }
        self.last = LastSearch::default();
        self.mates = ProvenMates::default();
    }
}
