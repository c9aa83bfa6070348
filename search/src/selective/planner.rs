//! The selective search as a planner, with its settings, tables and threads.

use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, board_after, legal_moves};
use cozy_chess::Board;

use super::iteration::{MainSearch, help};
use super::parameters::SelectiveSettings;
use super::score::{INFINITE, to_value};
use super::search::Node;
use super::thread::{LeafSampler, SearchTables, SearchThread};
use super::transposition_table::TranspositionTable;
use crate::control::{Control, Report};
use crate::explanation::{Explanation, LastSearch, SearchedMove, SearchedTree};
use crate::host::{StopOnDrop, start_helpers};
use crate::inference::{Evaluator, Notice, Worker};
use crate::iterative_deepening::{RootMoves, deepen};
use crate::planner::{Planner, Resources};
use crate::tablebase::Tablebases;
use crate::value::{Value, static_value};
use crate::wdl::WdlModel;

/// The planner that runs the selective search.
pub struct Selective {
    default_depth: u32,
    tables: SearchTables,
    tablebases: Option<Arc<Tablebases>>,
    last: LastSearch,
    /// Gets a message once, if the system refuses threads.
    refusal: Option<Notice>,
}

impl Selective {
    /// A planner with empty tables. If memory for some threads is missing, it uses fewer threads
    /// and the worker's notice says so. Fails if memory for the first thread or the transposition
    /// table is missing.
    pub fn new(worker: &Worker, settings: SelectiveSettings, resources: Resources) -> Result<Self> {
        let Resources { hash_mb, threads } = resources;
        let threads = threads.max(1);
        // The evaluation cache gets only a quarter: scores are reused soon, or the transposition
        // table has them together with search results.
        let cache_mb = (hash_mb / 4).max(1);
        let evaluators = Evaluator::new(worker, cache_mb)?.for_threads(worker, threads);
        let (table_mb, notice) = (hash_mb.saturating_sub(cache_mb), worker.notice());
        let tables = SearchTables::new(evaluators, settings, table_mb, notice)?;
        Ok(Self {
            default_depth: settings.depth,
            tables,
            tablebases: None,
            last: LastSearch::default(),
            refusal: Some(notice.clone()),
        })
    }

    /// From now on, samples one of every `every` leaves; see [`Self::take_leaves`].
    pub fn sample_leaves(&mut self, every: u64) {
        for thread in &mut self.tables.threads {
            let every = every.max(1);
            thread.leaves = Some(LeafSampler { every, seen: 0, taken: Vec::new() });
        }
    }

    /// The leaves sampled since the last call: positions in which quiescence search stood pat, at
    /// the rate set by [`Self::sample_leaves`].
    pub fn take_leaves(&mut self) -> Vec<Board> {
        let samplers = self.tables.threads.iter_mut().filter_map(|thread| thread.leaves.as_mut());
        samplers.flat_map(|sampler| std::mem::take(&mut sampler.taken)).collect()
    }

    /// The value of `root` by quiescence search alone, on one thread and without limits. The tables
    /// of earlier searches are used.
    pub fn quiescence(&mut self, root: &Position) -> Result<Value> {
        let tablebases = self.tablebases.as_deref();
        let (shared, threads) = self.tables.begin_search(root, tablebases);
        let thread = threads.first_mut().context("no thread to search")?;
        let mut thread = SearchThread::new(thread, &shared, Vec::new(), None);
        let (alpha, beta) = (-INFINITE, INFINITE);
        let node = Node { ply: 0, depth: 0, alpha, beta, cut_node: false };
        let score = thread.quiescence(root.board(), node);
        thread.error.take().map_or_else(|| Ok(to_value(score)), Err)
    }

    /// Sets the maximum depth, in plies, of later searches whose limits name none.
    pub fn set_default_depth(&mut self, depth: u32) {
        self.default_depth = depth;
    }

    /// Sets the tablebases that later searches probe.
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
        let tablebases = control.limits().tablebases(self.tablebases.as_deref(), root);
        let root_moves = RootMoves::new(root, control.limits(), tablebases);
        let tablebases = tablebases.filter(|_| !root_moves.are_known());
        let (default_depth, refusal) = (self.default_depth, &mut self.refusal);
        let (mut shared, threads) = self.tables.begin_search(root, tablebases);
        shared.handicap = control.limits().handicap;
        let (main, helpers) = threads.split_first_mut().context("no thread to search")?;
        let (best, searched) = thread::scope(|scope| {
            let _stop = StopOnDrop(&shared.stop);
            let moves = root_moves.moves.clone();
            let shared = &shared;
            let helpers = (1..).zip(helpers).map(|(number, data)| {
                let moves = moves.clone();
                move || help(SearchThread::new(data, shared, moves, None), number)
            });
            start_helpers(scope, helpers.collect(), refusal);
            let thread = SearchThread::new(main, shared, moves.clone(), Some(control));
            let mut search = MainSearch::new(thread, &root_moves, default_depth);
            let best = deepen(&mut search, &root_moves, report);
            best.map(|best| (best, search.searched))
        })?;
        self.last = LastSearch::new(root, searched);
        Ok(best)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        let (_, evaluator) = self.tables.table_and_evaluator().context("no thread to search")?;
        static_value(evaluator, position, 0)
    }

    fn explain(&mut self, plies: u32) -> Result<Option<Explanation>> {
        let (table, evaluator) =
            self.tables.table_and_evaluator().context("no thread to search")?;
        self.last.explain(plies, &mut TableTree { table, evaluator })
    }

    fn tablebases(&self) -> Option<&Tablebases> {
        self.tablebases.as_deref()
    }

    fn wdl_model(&self) -> WdlModel {
        WdlModel::SELECTIVE
    }

    fn new_game(&mut self) {
        self.last = LastSearch::default();
        self.tables.clear();
    }
}

/// The tree of the last search, read from the transposition table.
struct TableTree<'a> {
    table: &'a TranspositionTable,
    evaluator: &'a mut Evaluator,
}

impl SearchedTree for TableTree<'_> {
    fn evaluator(&mut self) -> &mut Evaluator {
        self.evaluator
    }

    /// Looks up the position after each move; its entry may stem from another move order.
    fn searched(&mut self, position: &Position, ply: u32, _: u32) -> Result<Vec<SearchedMove>> {
        let board = position.board();
        let known = legal_moves(board).into_iter().filter_map(|mv| {
            let entry = self.table.probe(board_after(board, mv).hash(), ply as usize + 1)?;
            Some(SearchedMove {
                mv,
                value: to_value(-entry.score),
                bound: -entry.bound,
                depth: entry.depth as u32 + 1,
            })
        });
        Ok(known.collect())
    }
}
