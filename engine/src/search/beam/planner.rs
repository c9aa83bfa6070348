//! The beam as a planner: one thread that deepens and reports, and helpers that search along.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

use anyhow::{Context, Result};
use crossbeam_channel::unbounded;

use super::proven_mates::ProvenMates;
use super::schedule::{Iteration, Schedule};
use super::search::{BeamSearch, Task};
use super::settings::BeamSettings;
use crate::inference::Evaluator;
use crate::position::Position;
use crate::search::control::{Control, Limits};
use crate::search::explanation::{Explanation, LastSearch, SearchedMove};
use crate::search::planner::Planner;
use crate::search::report::Report;
use crate::search::root_moves::RootMoves;
use crate::search::static_value::static_value;
use crate::search::tablebase::Tablebases;
use crate::search::value::Value;

/// Deepest ply of any search.
const MAX_DEPTH: u32 = 128;

/// The paper's planner. More threads change no choice at a fixed depth: they search the same tree from
/// other ends, so that the first finds their scores in the cache.
pub struct Beam {
    evaluator: Evaluator,
    /// The other threads'.
    helpers: Vec<Evaluator>,
    settings: BeamSettings,
    tablebases: Option<Arc<Tablebases>>,
    mates: ProvenMates,
    last: LastSearch,
}

impl Beam {
    /// A planner with its own score cache.
    pub fn new(evaluator: Evaluator, settings: BeamSettings) -> Self {
        let (helpers, mates, last) = (Vec::new(), ProvenMates::default(), LastSearch::default());
        Self { evaluator, helpers, settings, tablebases: None, mates, last }
    }

    /// Searches with a thread for each of these, too, which share the planner's cache.
    pub fn set_helpers(&mut self, helpers: Vec<Evaluator>) {
        self.helpers = helpers;
    }

    /// Probes these tables from now on.
    pub fn set_tablebases(&mut self, tablebases: Option<Arc<Tablebases>>) {
        self.tablebases = tablebases;
    }

    /// The line of a mate that an earlier search has proved, for a search that is free to play it.
    fn known_mate(&self, root: &Position, control: &Control) -> Option<Report> {
        let limits = control.limits();
        let free = limits.search_moves.is_empty() && limits.multipv <= 1;
        let (value, pv) = free.then(|| self.mates.line(root))??;
        let depth = pv.len() as u32;
        let hashfull = self.evaluator.permille_full();
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
            return Ok(known);
        }
        let (settings, tablebases) = (self.settings, self.tablebases.as_deref());
        let root_moves = RootMoves::new(root, control.limits(), tablebases);
        let limits = Limits { ponder: true, ..control.limits().clone() };
        let asked = control.limits();
        let open_ended = asked.depth.is_none() && asked.are_open_ended();
        let schedule = || {
            Schedule::new(settings, open_ended).take_while(|iteration| iteration.depth <= MAX_DEPTH)
        };
        let nodes = AtomicU64::new(0);
        let Outcome { best, mates, searched } = thread::scope(|scope| {
            let task = Task {
                settings,
                tablebases,
                root,
                root_moves: &root_moves.moves,
                nodes: &nodes,
                thread: 0,
            };
            let mut stops = Vec::new();
            for (thread, evaluator) in (1..).zip(&mut self.helpers) {
                let (stop, signals) = unbounded();
                let (limits, schedule) = (limits.clone(), schedule());
                stops.push(stop);
                scope.spawn(move || {
                    let control = &mut Control::new(limits, signals);
                    let search = BeamSearch::new(evaluator, Task { thread, ..task }, control);
                    help(search, schedule);
                });
            }
            let search = BeamSearch::new(&mut self.evaluator, task, control);
            // The helpers end as their signals' senders are dropped, whatever becomes of the search.
            let outcome = deepen(search, schedule(), settings.depth, &root_moves, report);
            drop(stops);
            outcome
        })?;
        if let Some(mates) = mates {
            self.mates = mates;
        }
        self.last = LastSearch::new(root, searched);
        Ok(best)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        static_value(&mut self.evaluator, position, 0)
    }

    fn explain(&mut self) -> Result<Option<Explanation>> {
        self.last.explain(&mut self.evaluator)
    }

    fn new_game(&mut self) {
        self.evaluator.clear_cache();
        self.last = LastSearch::default();
        self.mates = ProvenMates::default();
    }
}

/// What a search leaves behind.
struct Outcome {
    best: Report,
    /// The mates that were proved, where the best line is one.
    mates: Option<ProvenMates>,
    searched: Vec<SearchedMove>,
}

/// Deepens ply by ply until a limit comes, and reports.
fn deepen(
    mut search: BeamSearch<'_>,
    schedule: impl Iterator<Item = Iteration>,
    default_depth: u32,
    root_moves: &RootMoves,
    report: &mut dyn FnMut(&Report),
) -> Result<Outcome> {
    let mut best: Option<Report> = None;
    let mut searched = Vec::new();
    for Iteration { depth, width } in schedule {
        // The first iteration is not interrupted, so that there is a move.
        if best.is_some() && !search.control.may_begin(depth, default_depth) {
            break;
        }
        search.widen(width);
        let Some(mut lines) = search.iterate(depth, best.is_some())? else {
            // What the unfinished iteration cost; after a ponder hit it may be all there is to say.
            if let Some(best) = &mut best {
                search.add_costs(best);
                report(best);
            }
            break;
        };
        searched.clone_from(&search.searched);
        root_moves.present(&mut lines, report);
        // No deeper iteration finds other mates, or another move where there is one.
        let settled = lines.iter().all(|line| line.value.plies_to_mate().is_some());
        best = lines.into_iter().next();
        if settled || root_moves.is_forced() && search.control.on_the_clock() {
            break;
        }
    }
    let best = best.context("no iteration finished")?;
    let mating = best.value > Value::DRAW;
    let mates =
        best.value.plies_to_mate().filter(|_| mating).map(|plies| search.proven_mates(plies));
    search.discard();
    Ok(Outcome { best, mates, searched })
}

/// Deepens along, until the main thread has enough.
fn help(mut search: BeamSearch<'_>, schedule: impl Iterator<Item = Iteration>) {
    for Iteration { depth, width } in schedule {
        if !search.control.may_begin(depth, depth) {
            break;
        }
        search.widen(width);
        // A broken encoder is the main thread's to report.
        if !matches!(search.iterate(depth, true), Ok(Some(_))) {
            break;
        }
    }
    search.discard();
}
