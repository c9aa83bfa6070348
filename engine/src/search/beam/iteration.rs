//! The iterations of the main thread, each deeper or wider than the last, and the helper threads
//! that search in parallel.

use anyhow::Result;

use super::proven_mates::ProvenMates;
use super::schedule::{Iteration, Schedule};
use super::search::BeamSearch;
use crate::search::explanation::SearchedMove;
use crate::search::iterative_deepening::Deepening;
use crate::search::report::Report;
use crate::search::value::Value;

/// The results of a search that the planner keeps.
pub(super) struct Findings {
    /// The results for the root moves in the last finished iteration.
    pub(super) searched: Vec<SearchedMove>,
    /// The last finished iteration.
    pub(super) finished: Option<Iteration>,
    /// The proven mates, if the best line is a mate by the root's side.
    pub(super) mates: Option<ProvenMates>,
}

/// The main thread's search, which checks the limits and reports.
pub(super) struct MainSearch<'a> {
    search: BeamSearch<'a>,
    schedule: Schedule,
    /// Maximum depth in plies if the limits name none.
    default_depth: u32,
    /// Moves kept at each node by the next iteration.
    width: usize,
    finished: Option<Iteration>,
    /// The results for the root moves in the last finished iteration.
    searched: Vec<SearchedMove>,
}

impl<'a> MainSearch<'a> {
    pub(super) fn new(search: BeamSearch<'a>, schedule: Schedule, default_depth: u32) -> Self {
        Self { search, schedule, default_depth, width: 0, finished: None, searched: Vec::new() }
    }

    /// Ends the search, whose best line is `best`.
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

    /// If all lines are mates, a deeper iteration changes neither the mates nor the choice.
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

/// Runs a helper thread until the main thread stops it.
pub(super) fn help(mut search: BeamSearch<'_>, schedule: Schedule) {
    for Iteration { depth, width } in schedule {
        if !search.control.may_begin(depth, depth) {
            break;
        }
        search.widen(width);
        // The main thread meets and reports the same encoder error.
        if !matches!(search.iterate(depth, true), Ok(Some(_))) {
            break;
        }
    }
    search.discard();
}
