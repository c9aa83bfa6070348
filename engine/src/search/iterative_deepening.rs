//! Iterative deepening, shared by all planners: each iteration is deeper than the one before (or
//! wider, in the beam), until a limit is reached.

use anyhow::{Context, Result};

use super::report::Report;
use super::root_moves::RootMoves;

/// A search that runs in iterations.
pub trait Deepening {
    /// The depth of the next iteration, in plies; `None` if there is none.
    fn next_depth(&mut self) -> Option<u32>;

    /// Whether the limits allow an iteration of `depth` plies.
    fn may_begin(&self, depth: u32) -> bool;

    /// Runs that iteration and returns its lines, best first; `None` if a limit stopped it. Limits
    /// stop it only if it is `interruptible`.
    fn iterate(&mut self, depth: u32, interruptible: bool) -> Result<Option<Vec<Report>>>;

    /// Whether no deeper iteration could change the choice made by these `lines`, or none may
    /// begin.
    fn is_settled(&self, lines: &[Report]) -> bool;

    /// Whether the move's time is taken from a clock, so that a forced move should be played at
    /// once.
    fn on_the_clock(&self) -> bool;

    /// Adds the costs of the search so far to a report.
    fn add_costs(&mut self, report: &mut Report);
}

/// Runs and reports iterations until a limit is reached. Returns the best line of the last complete
/// iteration.
pub fn deepen(
    search: &mut impl Deepening,
    root_moves: &RootMoves,
    report: &mut dyn FnMut(&Report),
) -> Result<Report> {
    let mut best: Option<Report> = None;
    while let Some(depth) = search.next_depth() {
        // The first iteration is never interrupted, so that there is always a move.
        if best.is_some() && !search.may_begin(depth) {
            break;
        }
        let Some(mut lines) = search.iterate(depth, best.is_some())? else {
            // Include the cost of the unfinished iteration; after a ponder hit it may be the only
            // cost.
            if let Some(best) = &mut best {
                search.add_costs(best);
                report(best);
            }
            break;
        };
        root_moves.present(&mut lines, report);
        let forced = root_moves.is_forced() && search.on_the_clock();
        let settled = search.is_settled(&lines);
        best = lines.into_iter().next();
        if settled || forced {
            break;
        }
    }
    best.context("no iteration finished")
}
