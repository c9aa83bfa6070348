//! The iterations of the main thread, each deeper or wider than the last, and the helper threads
//! that search in parallel; and the tree of the last search, rebuilt for an explanation.

use std::sync::atomic::AtomicU64;

use anyhow::Result;
use azimuth_chess::position::{Position, legal_moves};
use azimuth_network::policy::Policy;
use cozy_chess::Move;

use super::batched_quiescence::Rules;
use super::search::{BeamSearch, Task};
use super::settings::BeamSettings;
use super::verification::{Horizons, Verifier, verified_moves};
use crate::control::{Control, Limits, Report};
use crate::explanation::{SearchedMove, SearchedTree, VerifiedMove};
use crate::inference::Evaluator;
use crate::iterative_deepening::Deepening;
use crate::selective::{SearchTables, ShallowSearch};
use crate::tablebase::Tablebases;

/// The main thread's search, which checks the limits and reports.
pub struct MainSearch<'a> {
    pub search: BeamSearch<'a>,
    schedule: Schedule,
    /// Maximum depth in plies if the limits name none.
    default_depth: u32,
    /// Moves kept at each node by the next iteration.
    width: usize,
    pub finished: Option<Iteration>,
    /// The results for the root moves in the last finished iteration.
    pub searched: Vec<SearchedMove>,
}

impl<'a> MainSearch<'a> {
    pub fn new(search: BeamSearch<'a>, schedule: Schedule, default_depth: u32) -> Self {
        Self { search, schedule, default_depth, width: 0, finished: None, searched: Vec::new() }
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
pub fn help(mut search: BeamSearch<'_>, schedule: Schedule) {
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

/// Maximum depth in plies.
const MAX_DEPTH: u32 = 128;

/// Maximum number of moves kept at a node, unless the settings ask for more.
const MAX_WIDTH: usize = 64;

/// Each iteration is a ply deeper. The iterations of an open-ended search alternate once the
/// configured depth is reached: one widens the beam by half and one move, the next is a
/// ply deeper. At a constant width, the beam would never find the moves that it cut, at any depth.
#[derive(Clone)]
pub struct Schedule {
    settings: BeamSettings,
    open_ended: bool,
    next: Iteration,
}

/// The depth of an iteration in plies, and the number of moves that it keeps at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    pub depth: u32,
    pub width: usize,
}

impl Schedule {
    /// Starts at depth 1. `open_ended` is true if the limits name no depth, and time, nodes or a
    /// signal end the search.
    pub fn new(settings: BeamSettings, open_ended: bool) -> Self {
        Self { settings, open_ended, next: Iteration { depth: 1, width: settings.width } }
    }
}

impl Iterator for Schedule {
    type Item = Iteration;

    fn next(&mut self) -> Option<Iteration> {
        let iteration = self.next;
        let BeamSettings { depth, width, .. } = self.settings;
        let own_shape = iteration.depth < depth || !self.open_ended;
        // The beam is widened as often as it is deepened beyond the configured depth.
        let wider = (depth..=iteration.depth.max(depth))
            .fold(width, |width, _| (width + width / 2 + 1).min(MAX_WIDTH.max(width)));
        self.next = match own_shape || iteration.width >= wider {
            true => Iteration { depth: iteration.depth + 1, ..iteration },
            false => Iteration { width: wider, ..iteration },
        };
        (iteration.depth <= MAX_DEPTH).then_some(iteration)
    }
}

/// The tree of the last search, rebuilt for an explanation. The beam below a position depends only
/// on the position, its depth, its width and the horizon of its verification; its scores are in the
/// cache.
pub struct GrownAgain<'a> {
    pub evaluator: &'a mut Evaluator,
    /// Tables of the verifying searches, and their horizon in plies from the root.
    pub verification: Option<(&'a mut SearchTables, u32)>,
    pub quiescence: Option<Rules>,
    pub policy: Option<&'a Policy>,
    pub settings: BeamSettings,
    pub tablebases: Option<&'a Tablebases>,
}

impl SearchedTree for GrownAgain<'_> {
    fn evaluator(&mut self) -> &mut Evaluator {
        self.evaluator
    }

    fn searched(&mut self, position: &Position, ply: u32, depth: u32) -> Result<Vec<SearchedMove>> {
        let task = Task {
            settings: self.settings,
            quiescence: self.quiescence,
            policy: self.policy,
            tablebases: self.tablebases,
            root: position,
            root_moves: &legal_moves(position.board()),
            nodes: &AtomicU64::new(0),
            thread: 0,
        };
        let mut control = Control::without_signals(Limits::default());
        let (tables, horizon) = self.verification.as_mut().map(|(t, h)| (t, *h)).unzip();
        let (shared, verifying) =
            tables.map(|tables| tables.begin_search(position, self.tablebases)).unzip();
        let searching = verifying.and_then(|threads| threads.first_mut()).zip(shared.as_ref());
        let verifier = searching.zip(horizon).map(|((data, shared), horizon)| {
            let horizons = Horizons::Fixed(horizon.saturating_sub(ply));
            Verifier::new(ShallowSearch::new(data, shared), horizons)
        });
        let mut search = BeamSearch::new(self.evaluator, task, verifier, &mut control);
        for depth in 1..=depth {
            search.iterate(depth, false)?;
        }
        let mut searched = std::mem::take(&mut search.searched);
        for found in &mut searched {
            found.value = found.value.seen_from_before(ply);
        }
        Ok(searched)
    }

    fn verified(
        &mut self,
        position: &Position,
        ply: u32,
        moves: &[Move],
    ) -> Result<Vec<VerifiedMove>> {
        let Some((tables, horizon)) = &mut self.verification else { return Ok(Vec::new()) };
        let (shared, threads) = tables.begin_search(position, self.tablebases);
        let Some(data) = threads.first_mut() else { return Ok(Vec::new()) };
        let search = ShallowSearch::new(data, &shared);
        verified_moves(search, self.tablebases, position, (ply, *horizon), moves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_its_shape_it_grows_both_ways() {
        let iterations = |open_ended, first: usize| -> Vec<(u32, usize)> {
            let settings = BeamSettings { width: 3, depth: 2, ..BeamSettings::PAPER };
            let steps = Schedule::new(settings, open_ended).take(first);
            steps.map(|iteration| (iteration.depth, iteration.width)).collect()
        };
        let grown = [(1, 3), (2, 3), (2, 5), (3, 5), (3, 8), (4, 8), (4, 13)];
        assert_eq!(iterations(true, 7), grown);
        assert_eq!(iterations(false, 3), [(1, 3), (2, 3), (3, 3)]);
        assert_eq!(iterations(true, 40).last().map(|last| last.1), Some(MAX_WIDTH));
    }
}
