//! The beam as a planner: one thread that deepens and reports, and helpers that search along.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

use anyhow::Result;
use crossbeam_channel::unbounded;

use super::grown_again::GrownAgain;
use super::iteration::{MainSearch, help};
use super::proven_mates::ProvenMates;
use super::schedule::Schedule;
use super::search::{BeamSearch, Task};
use super::settings::BeamSettings;
use crate::inference::Evaluator;
use crate::position::Position;
use crate::search::control::{Control, Limits};
use crate::search::explanation::{Explanation, LastSearch};
use crate::search::iterative_deepening::deepen;
use crate::search::planner::Planner;
use crate::search::report::Report;
use crate::search::root_moves::RootMoves;
use crate::search::static_value::static_value;
use crate::search::tablebase::Tablebases;
use crate::search::value::Value;

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
    /// Moves that its last iteration kept at a node.
    last_width: usize,
}

impl Beam {
    /// A planner with its own score cache.
    pub fn new(evaluator: Evaluator, settings: BeamSettings) -> Self {
        let (helpers, mates, last) = (Vec::new(), ProvenMates::default(), LastSearch::default());
        Self { evaluator, helpers, settings, tablebases: None, mates, last, last_width: 0 }
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
        let schedule = Schedule::new(settings, open_ended);
        let nodes = AtomicU64::new(0);
        let (best, findings) = thread::scope(|scope| {
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
                let (limits, schedule) = (limits.clone(), schedule.clone());
                stops.push(stop);
                scope.spawn(move || {
                    let control = &mut Control::new(limits, signals);
                    let search = BeamSearch::new(evaluator, Task { thread, ..task }, control);
                    help(search, schedule);
                });
            }
            let search = BeamSearch::new(&mut self.evaluator, task, control);
            let mut search = MainSearch::new(search, schedule, settings.depth);
            let best = deepen(&mut search, &root_moves, report);
            // The helpers end as their signals' senders are dropped, whatever becomes of the search.
            drop(stops);
            best.map(|best| {
                let findings = search.finish(&best);
                (best, findings)
            })
        })?;
        if let Some(mates) = findings.mates {
            self.mates = mates;
        }
        self.last_width = findings.width.unwrap_or(settings.width);
        self.last = LastSearch::new(root, findings.searched);
        Ok(best)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        static_value(&mut self.evaluator, position, 0)
    }

    fn explain(&mut self, plies: u32) -> Result<Option<Explanation>> {
        let mut tree = GrownAgain {
            evaluator: &mut self.evaluator,
            settings: BeamSettings { width: self.last_width, ..self.settings },
            tablebases: self.tablebases.as_deref(),
        };
        self.last.explain(plies, &mut tree)
    }

    fn new_game(&mut self) {
        self.evaluator.clear_cache();
        self.last = LastSearch::default();
        self.mates = ProvenMates::default();
    }
}
