//! The selective search: alpha-beta over the latent score, deepened ply by ply, with captures resolved
//! at the leaves and ever fewer moves looked at towards them. Where the beam cuts to a constant width
//! before it has looked, this cuts by what the search has found.

mod children;
mod history;
mod margins;
mod moves;
mod node;
mod parts;
mod quiescence;
mod score;
mod table;
mod thread;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread as threads;

use anyhow::{Context, Result};

use super::control::Control;
use super::explanation::{Explanation, LastSearch, SearchedMove, record_searched};
use super::planner::{Planner, Resources};
use super::report::Report;
use super::root::{RootMoves, static_value};
use super::tablebase::Tablebases;
use super::value::Value;
use crate::inference::{Evaluator, Worker};
use crate::position::Position;
pub use parts::{Part, Parts};
use score::{Score, to_value};
use table::Table;
use thread::{Best, MAX_PLY, Mind, Shared, Thread};

/// Shape of the selective search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectiveSettings {
    /// Plies, where the limits name none.
    pub depth: u32,
    /// Which ideas it uses.
    pub parts: Parts,
}

impl Default for SelectiveSettings {
    fn default() -> Self {
        Self { depth: 6, parts: Parts::default() }
    }
}

/// The second planner.
pub struct Selective {
    settings: SelectiveSettings,
    table: Table,
    tables: Option<Arc<Tablebases>>,
    /// One for each thread.
    minds: Vec<Mind>,
    last: LastSearch,
}

impl Selective {
    /// A planner with tables of its own. Fails where memory for them is missing.
    pub fn new(worker: &Worker, settings: SelectiveSettings, resources: Resources) -> Result<Self> {
        let Resources { hash_mb, threads } = resources;
        let threads = threads.max(1);
        // Scores are needed again soon or, with what a search made of them, from its table.
        let cache_mb = (hash_mb / 4).max(1);
        let table = Table::new(hash_mb.saturating_sub(cache_mb).max(1))?;
        let evaluators = Evaluator::new(worker, cache_mb)?.for_threads(worker, threads);
        let minds = evaluators.into_iter().map(Mind::new).collect();
        Ok(Self { settings, table, tables: None, minds, last: LastSearch::default() })
    }

    /// Probes these tables from now on.
    pub fn set_tablebases(&mut self, tables: Option<Arc<Tablebases>>) {
        self.tables = tables;
    }
}

impl Planner for Selective {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        let tables = self.tables.as_deref();
        let moves = RootMoves::new(root, control.limits(), tables);
        self.table.begin_search();
        let shared = Shared {
            root,
            table: &self.table,
            tables,
            parts: self.settings.parts,
            stop: false.into(),
            nodes: 0.into(),
            tbhits: 0.into(),
        };
        let (first, others) = self.minds.split_first_mut().context("no thread to search")?;
        let usual = self.settings.depth;
        let (best, searched) = threads::scope(|scope| {
            for mind in others {
                let (shared, moves) = (&shared, moves.moves.clone());
                scope.spawn(move || help(Thread::new(mind, shared, moves, None)));
            }
            let thread = Thread::new(first, &shared, moves.moves.clone(), Some(control));
            let outcome = lead(thread, &moves, usual, report);
            shared.stop.store(true, Relaxed);
            outcome
        })?;
        self.last = LastSearch::new(root, searched);
        Ok(best)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        let mind = self.minds.first_mut().context("no thread to search")?;
        static_value(&mut mind.evaluator, position, 0)
    }

    fn explain(&mut self) -> Result<Option<Explanation>> {
        let mind = self.minds.first_mut().context("no thread to search")?;
        self.last.explain(&mut mind.evaluator)
    }

    fn new_game(&mut self) {
        self.last = LastSearch::default();
        self.table.clear();
        self.minds.iter_mut().for_each(Mind::clear);
    }
}

/// Deepens ply by ply until a limit comes, and reports.
fn lead(
    mut thread: Thread<'_>,
    moves: &RootMoves,
    usual: u32,
    report: &mut dyn FnMut(&Report),
) -> Result<(Report, Vec<SearchedMove>)> {
    let mut best: Option<Report> = None;
    let mut searched = Vec::new();
    let mut expected: Vec<Score> = Vec::new();
    for depth in 1..=MAX_PLY as u32 {
        // The first iteration is not interrupted, so that there is a move.
        thread.interruptible = best.is_some();
        let control = thread.control.as_deref().context("the first thread has the limits")?;
        if best.is_some() && !control.may_begin(depth, usual) {
            break;
        }
        let forced = moves.is_forced() && control.on_the_clock();
        let lines = control.limits().multipv.max(1);
        let found = iterate_lines(&mut thread, depth, lines, moves, &expected)?;
        expected = found.iter().map(|line| line.score).collect();
        let mut reports: Vec<Report> =
            found.into_iter().map(|line| summary(&mut thread, depth, line)).collect();
        if thread.stopped && reports.len() < lines.min(moves.moves.len()) {
            // The lines of one iteration belong together: only what the others cost is said.
            if let Some(best) = &mut best {
                add_costs(&mut thread, best);
                report(best);
            }
            break;
        }
        thread.searched.iter().for_each(|&found| record_searched(&mut searched, found));
        moves.present(&mut reports, report);
        let settled = reports
            .iter()
            .all(|line| line.value.plies_to_mate().is_some_and(|plies| plies <= depth));
        best = reports.into_iter().next();
        if settled || forced || thread.stopped {
            break;
        }
    }
    Ok((best.context("no iteration finished")?, searched))
}

/// The best `lines` lines of one depth, each with a root move of its own; fewer where a limit comes.
fn iterate_lines(
    thread: &mut Thread<'_>,
    depth: u32,
    lines: usize,
    moves: &RootMoves,
    expected: &[Score],
) -> Result<Vec<Best>> {
    let mut found: Vec<Best> = Vec::new();
    thread.root_moves.clone_from(&moves.moves);
    thread.searched.clear();
    for line in 0..lines.min(moves.moves.len()) {
        thread.iterate(depth as i32, expected.get(line).copied())?;
        let Some(best) = thread.best.take() else { break };
        thread.root_moves.retain(|mv| best.line.first() != Some(mv));
        found.push(best);
        if thread.stopped {
            break;
        }
    }
    found.sort_by_key(|best| -best.score);
    Ok(found)
}

/// Searches along until the leading thread has enough: what helpers find is in the table.
fn help(mut thread: Thread<'_>) {
    let mut expected = None;
    for depth in 1..=MAX_PLY as i32 {
        // A broken encoder is the leading thread's to report.
        if thread.iterate(depth, expected).is_err() || thread.stopped {
            break;
        }
        expected = thread.best.as_ref().map(|best| best.score);
    }
    thread.count();
}

fn summary(thread: &mut Thread<'_>, depth: u32, line: Best) -> Report {
    let mut report = Report { depth, ..Report::of(to_value(line.score), line.line) };
    add_costs(thread, &mut report);
    report
}

/// Puts into a report what the search has cost so far.
fn add_costs(thread: &mut Thread<'_>, report: &mut Report) {
    thread.count();
    let (shared, evaluator) = (thread.shared, &thread.mind.evaluator);
    report.nodes = shared.nodes.load(Relaxed);
    report.tbhits = report.tbhits.max(shared.tbhits.load(Relaxed));
    report.seldepth = thread.seldepth as u32;
    report.scored = evaluator.scored() - thread.scored_before;
    report.waited = evaluator.waited() - thread.waited_before;
    report.time = thread.control.as_deref().map_or(report.time, Control::elapsed);
    report.hashfull = shared.table.permille_full();
}

#[cfg(test)]
mod tests;
