//! The memory kept between searches: the transposition table, and an evaluator with histories for
//! each thread.

use std::sync::Arc;

use anyhow::{Result, ensure};
use azimuth_chess::position::Position;

use super::late_move_table::LateMoveTable;
use super::settings::SelectiveSettings;
use super::thread::{Shared, ThreadData};
use super::transposition_table::TranspositionTable;
use crate::inference::{Evaluator, Notice};
use crate::search::tablebase::Tablebases;

/// Tables of an alpha-beta search for one or more threads.
pub(in crate::search) struct SearchTables {
    settings: SelectiveSettings,
    late_moves: LateMoveTable,
    table: TranspositionTable,
    pub(in crate::search) threads: Vec<ThreadData>,
    /// Tablebases to probe, if any.
    pub(in crate::search) tablebases: Option<Arc<Tablebases>>,
}

impl SearchTables {
    /// Creates a transposition table of `table_mb` megabytes, and histories for each evaluator's
    /// thread. If memory for all threads is missing, there are fewer, and `notice` says so. Fails
    /// if memory for the first thread or for the transposition table is missing.
    pub(in crate::search) fn new(
        evaluators: Vec<Evaluator>,
        settings: SelectiveSettings,
        table_mb: usize,
        notice: &Notice,
    ) -> Result<Self> {
        let table = TranspositionTable::new(table_mb.max(1))?;
        let wanted = evaluators.len();
        let threads: Vec<ThreadData> = evaluators.into_iter().map_while(ThreadData::new).collect();
        ensure!(!threads.is_empty(), "no memory for the histories of a search");
        if threads.len() < wanted {
            notice(&format!("memory for {} of {wanted} threads only", threads.len()));
        }
        Ok(Self {
            settings,
            late_moves: LateMoveTable::new(&settings.parameters),
            table,
            threads,
            tablebases: None,
        })
    }

    /// Starts a search from `root`. Returns the state shared by its threads, and each thread's own
    /// data.
    pub(in crate::search) fn begin_search<'a>(
        &'a mut self,
        root: &'a Position,
    ) -> (Shared<'a>, &'a mut [ThreadData]) {
        self.table.begin_search();
        let shared = Shared {
            root,
            handicap: None,
            table: &self.table,
            tablebases: self.tablebases.as_deref(),
            parts: self.settings.parts,
            parameters: self.settings.parameters,
            late_moves: &self.late_moves,
            stop: false.into(),
            nodes: 0.into(),
            tbhits: 0.into(),
        };
        (shared, &mut self.threads)
    }

    /// The transposition table and the first thread's evaluator.
    pub(super) fn table_and_evaluator(&mut self) -> Option<(&TranspositionTable, &mut Evaluator)> {
        Some((&self.table, &mut self.threads.first_mut()?.evaluator))
    }

    /// Clears the transposition table and all histories and caches.
    pub(in crate::search) fn clear(&mut self) {
        self.table.clear();
        self.threads.iter_mut().for_each(ThreadData::clear);
    }
}
