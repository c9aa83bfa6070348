//! The iterations of the main thread, deeper and wider in turn, and the helper threads that search along.

use anyhow::Result;

use super::proven_mates::ProvenMates;
use super::schedule::{Iteration, Schedule};
use super::search::BeamSearch;
use crate::search::explanation::SearchedMove;
use crate::search::iterative_deepening::Deepening;
use crate::search::report::Report;
use crate::search::value::Value;

/// What a search leaves.
pub(super) struct Findings {
    /// What became of the root moves,
    pub(super) searched: Vec<SearchedMove>,
    /// in the last finished iteration.
    pub(super) finished: Option<Iteration>,
    /// The mates that were proved, where the best line is one.
    pub(super) mates: Option<ProvenMates>,
}

/// The main thread's search: the one that knows the limits, and reports.
pub(super) struct MainSearch<'a> {
    search: BeamSearch<'a>,
    schedule: Schedule,
    /// Plies, where the limits name none.
    default_depth: u32,
    /// Moves that the next iteration keeps at a node.
    width: usize,
    /// The last finished iteration,
    finished: Option<Iteration>,
    /// and its root moves.
    searched: Vec<SearchedMove>,
}

impl<'a> MainSearch<'a> {
    pub(super) fn new(search: BeamSearch<'a>, schedule: Schedule, default_depth: u32) -> Self {
        Self { search, schedule, default_depth, width: 0, finished: None, searched: Vec::new() }
    }

    /// Ends the search, whose outcome is `best`.
    pub(super) fn finish(self, best: &Report) -> Findings {
        let mating = best.value > Value::DRAW;
        let plies = best.value.plies_to_mate().filter(|_| mating);
        let mates = plies.map(|plies| self.search.proven_mates(plies));
        self.search.discard();
        Findings { searched: self.searched, finished: self.finished, mates }
    }
}

impl Deepening for MainSearch<'_> {
    fn next_depth(&mut self) -> Option<u32> {
        let Iteration { depth, width } = self.schedule.next()?;
        self.width = width;
        Some(depth)
    }

    fn may_begin(&self, depth: u32) -> bool {
        self.search.control.may_begin(depth, self.default_depth)
    }

    fn iterate(&mut self, depth: u32, interruptible: bool) -> Result<Option<Vec<Report>>> {
        self.search.widen(self.width);
        let lines = self.search.iterate(depth, interruptible)?;
        if lines.is_some() {
            self.finished = Some(Iteration { depth, width: self.width });
            self.searched.clone_from(&self.search.searched);
        }
        Ok(lines)
    }

    /// No deeper iteration finds other mates, or another move where there is one.
    fn is_settled(&self, lines: &[Report]) -> bool {
        lines.iter().all(|line| line.value.plies_to_mate().is_some())
    }

    fn on_the_clock(&self) -> bool {
        self.search.control.on_the_clock()
    }

    fn add_costs(&mut self, report: &mut Report) {
        self.search.add_costs(report);
    }
}

/// Deepens along, until the main thread has enough.
pub(super) fn help(mut search: BeamSearch<'_>, schedule: Schedule) {
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
