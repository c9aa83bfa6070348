//! The selective search as a planner: its settings, its tables, its threads.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use anyhow::{Context, Result};
use cozy_chess::Board;

use super::iteration::{MainSearch, help};
use super::late_move_table::LateMoveTable;
use super::leaves::LeafSampler;
use super::parameters::Parameters;
use super::parts::Parts;
use super::table_tree::TableTree;
use super::thread::{SearchThread, Shared, ThreadData};
use super::transposition_table::TranspositionTable;
use crate::inference::{Evaluator, Worker};
use crate::position::Position;
use crate::search::control::Control;
use crate::search::explanation::{Explanation, LastSearch};
use crate::search::iterative_deepening::deepen;
use crate::search::planner::{Planner, Resources};
use crate::search::report::Report;
use crate::search::root_moves::RootMoves;
use crate::search::static_value::static_value;
use crate::search::tablebase::Tablebases;
use crate::search::value::Value;

/// Shape of the selective search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectiveSettings {
    /// Plies, where the limits name none.
    pub depth: u32,
    /// Which techniques it uses.
    pub parts: Parts,
    /// Margins, reductions, bonuses.
    pub parameters: Parameters,
}

impl Default for SelectiveSettings {
    fn default() -> Self {
        Self { depth: 6, parts: Parts::default(), parameters: Parameters::default() }
    }
}

/// The second planner.
pub struct Selective {
    settings: SelectiveSettings,
    late_moves: LateMoveTable,
    table: TranspositionTable,
    tablebases: Option<Arc<Tablebases>>,
    /// One for each thread.
    threads: Vec<ThreadData>,
    last: LastSearch,
}

impl Selective {
    /// A planner with tables of its own. Fails where memory for them is missing.
    pub fn new(worker: &Worker, settings: SelectiveSettings, resources: Resources) -> Result<Self> {
        let Resources { hash_mb, threads } = resources;
        let threads = threads.max(1);
        // Scores are needed again soon or, with what a search made of them, from its table.
        let cache_mb = (hash_mb / 4).max(1);
        let table = TranspositionTable::new(hash_mb.saturating_sub(cache_mb).max(1))?;
        let evaluators = Evaluator::new(worker, cache_mb)?.for_threads(worker, threads);
        let threads = evaluators.into_iter().map(ThreadData::new).collect();
        let (late_moves, last) = (LateMoveTable::new(&settings.parameters), LastSearch::default());
        Ok(Self { settings, late_moves, table, tablebases: None, threads, last })
    }

    /// Takes one of `every` leaves of the searches from now on, see [`Self::take_leaves`].
    pub fn sample_leaves(&mut self, every: u64) {
        self.threads.iter_mut().for_each(|thread| thread.leaves = Some(LeafSampler::new(every)));
    }

    /// The leaves taken since the last call: positions on which quiescence search stood pat, one of as many as
    /// [`Self::sample_leaves`] said.
    pub fn take_leaves(&mut self) -> Vec<Board> {
        let samplers = self.threads.iter_mut().filter_map(|thread| thread.leaves.as_mut());
        samplers.flat_map(LeafSampler::take).collect()
    }

    /// Probes these tables from now on.
    pub fn set_tablebases(&mut self, tablebases: Option<Arc<Tablebases>>) {
        self.tablebases = tablebases;
    }
}

impl Planner for Selective {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        let tablebases = self.tablebases.as_deref();
        let root_moves = RootMoves::new(root, control.limits(), tablebases);
        self.table.begin_search();
        let shared = Shared {
            root,
            table: &self.table,
            tablebases,
            parts: self.settings.parts,
            parameters: self.settings.parameters,
            late_moves: &self.late_moves,
            stop: false.into(),
            nodes: 0.into(),
            tbhits: 0.into(),
        };
        let (main, helpers) = self.threads.split_first_mut().context("no thread to search")?;
        let default_depth = self.settings.depth;
        let (best, searched) = thread::scope(|scope| {
            for (number, data) in (1..).zip(helpers) {
                let (shared, moves) = (&shared, root_moves.moves.clone());
                scope.spawn(move || help(SearchThread::new(data, shared, moves, None), number));
            }
            let moves = root_moves.moves.clone();
            let thread = SearchThread::new(main, &shared, moves, Some(control));
            let mut search = MainSearch::new(thread, &root_moves, default_depth);
            let best = deepen(&mut search, &root_moves, report);
            shared.stop.store(true, Relaxed);
            best.map(|best| (best, search.into_searched()))
        })?;
        self.last = LastSearch::new(root, searched);
        Ok(best)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        let main = self.threads.first_mut().context("no thread to search")?;
        static_value(&mut main.evaluator, position, 0)
    }

    fn explain(&mut self, plies: u32) -> Result<Option<Explanation>> {
        let main = self.threads.first_mut().context("no thread to search")?;
        let mut tree = TableTree { table: &self.table, evaluator: &mut main.evaluator };
        self.last.explain(plies, &mut tree)
    }

    fn new_game(&mut self) {
        self.last = LastSearch::default();
        self.table.clear();
        self.threads.iter_mut().for_each(ThreadData::clear);
    }
}
