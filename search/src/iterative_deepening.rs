//! Iterative deepening, shared by all planners: each iteration is deeper than the one before (or
//! wider, in the beam), until a limit is reached. [`RootMoves`] are the moves that it considers.

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, legal_moves};
use cozy_chess::Move;

use crate::control::Limits;
use crate::planner::Report;
use crate::tablebase::{RankedMoves, Tablebases};

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

/// The root moves: those given by `go`, reduced to the best ones if the tablebases contain the
/// position.
pub struct RootMoves {
    /// The moves; at least one unless the game is over.
    pub moves: Vec<Move>,
    ranked: Option<RankedMoves>,
}

impl RootMoves {
    /// The moves of `root` that `limits` allow.
    pub fn new(root: &Position, limits: &Limits, tablebases: Option<&Tablebases>) -> Self {
        let moves = match limits.search_moves.as_slice() {
            [] => legal_moves(root.board()),
            asked => without_repeats(asked),
        };
        match tablebases.and_then(|tablebases| tablebases.rank(root, &moves)) {
            Some(ranked) => Self { moves: ranked.best(limits.multipv), ranked: Some(ranked) },
            None => Self { moves, ranked: None },
        }
    }

    /// Whether there is only one move.
    pub fn is_forced(&self) -> bool {
        self.moves.len() == 1
    }

    /// Reports the lines of an iteration, with tablebase values in place of estimates. Mate scores
    /// stay, because they are more precise.
    pub fn present(&self, lines: &mut [Report], report: &mut dyn FnMut(&Report)) {
        if let Some(ranked) = &self.ranked {
            for line in &mut *lines {
                line.tbhits += ranked.len() as u64;
                if let (None, Some(&mv)) = (line.value.moves_to_mate(), line.pv.first()) {
                    line.value = ranked.value(mv);
                }
            }
            lines.sort_by_key(|line| line.pv.first().map(|&mv| ranked.place(mv)));
        }
        for (place, line) in (1..).zip(lines) {
            line.multipv = place;
            report(line);
        }
    }
}

/// Removes repeated moves and keeps the order.
fn without_repeats(moves: &[Move]) -> Vec<Move> {
    let mut once = Vec::with_capacity(moves.len());
    for mv in moves {
        if !once.contains(mv) {
            once.push(*mv);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_that_is_asked_for_twice_counts_once() -> Result<()> {
        let root = Position::default();
        let asked = ["e2e4", "d2d4", "e2e4"].map(|text| root.parse_move(text));
        let asked = asked.into_iter().collect::<Result<Vec<_>>>()?;
        let limits = Limits { search_moves: asked.clone(), multipv: 2, ..Limits::default() };
        assert_eq!(RootMoves::new(&root, &limits, None).moves, asked[..2]);
        Ok(())
    }
}
