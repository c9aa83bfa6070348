//! Iterative deepening: one iteration after another, each deeper than the one before, until a limit comes. The
//! same for every planner.

use anyhow::{Context, Result};

use super::report::Report;
use super::root_moves::RootMoves;

/// A search that can go on from iteration to iteration.
pub trait Deepening {
    /// The depth of the next iteration, in plies; `None` where there is no deeper one.
    fn next_depth(&mut self) -> Option<u32>;

    /// Whether the limits let an iteration of `depth` plies begin.
    fn may_begin(&self, depth: u32) -> bool;

    /// Runs that iteration and returns its lines, best first; `None` where a limit came first, which it only
    /// heeds where it is `interruptible`.
    fn iterate(&mut self, depth: u32, interruptible: bool) -> Result<Option<Vec<Report>>>;

    /// Whether no deeper iteration would choose otherwise than these `lines`, or none may begin.
    fn is_settled(&self, lines: &[Report]) -> bool;

    /// Whether time is short, so that a forced move needs no thought.
    fn on_the_clock(&self) -> bool;

    /// Puts into a report what the search has cost so far.
    fn add_costs(&mut self, report: &mut Report);
}

/// Deepens until a limit comes, and reports. Returns the best line of the last finished iteration.
pub fn deepen(
    search: &mut impl Deepening,
    root_moves: &RootMoves,
    report: &mut dyn FnMut(&Report),
) -> Result<Report> {
    let mut best: Option<Report> = None;
    while let Some(depth) = search.next_depth() {
        // The first iteration is not interrupted, so that there is a move.
        if best.is_some() && !search.may_begin(depth) {
            break;
        }
        let Some(mut lines) = search.iterate(depth, best.is_some())? else {
            // What the unfinished iteration cost; after a ponder hit it may be all there is to say.
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
