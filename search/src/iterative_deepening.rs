//! Iterative deepening, shared by all planners: each iteration is deeper than the one before (or
//! wider, in the beam), until a limit is reached. [`RootMoves`] are the moves that it considers.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result};
use azimuth_chess::position::{Ending, Position, legal_moves};
use cozy_chess::Move;

use crate::control::{Limits, Report};
use crate::tablebase::{RankedMoves, Tablebases};
use crate::value::{Bound, Value};

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
    root_moves: &RootMoves<'_>,
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

/// The root moves: those given by `go`. If the tablebases contain the position, they are reduced to
/// those that win, or else to the best ones.
pub struct RootMoves<'a> {
    /// The moves; at least one unless the game is over.
    pub moves: Vec<Move>,
    known: Option<KnownRoot<'a>>,
}

/// A root position that the tablebases contain.
struct KnownRoot<'a> {
    position: &'a Position,
    tables: &'a Tablebases,
    ranked: RankedMoves,
    /// The tables' lines of the moves reported so far.
    lines: RefCell<HashMap<Move, Vec<Move>>>,
}

impl<'a> RootMoves<'a> {
    /// The moves of `root` that `limits` allow.
    pub fn new(root: &'a Position, limits: &Limits, tablebases: Option<&'a Tablebases>) -> Self {
        let moves = match limits.search_moves.as_slice() {
            [] => legal_moves(root.board()),
            asked => {
                let mut seen = HashSet::new();
                asked.iter().copied().filter(|&mv| seen.insert(mv)).collect()
            }
        };
        let ranked = tablebases.and_then(|tables| Some((tables, tables.rank(root, &moves)?)));
        let Some((tables, ranked)) = ranked else { return Self { moves, known: None } };
        let moves = ranked.worth_searching(limits.multipv);
        let known = KnownRoot { position: root, tables, ranked, lines: RefCell::default() };
        Self { moves, known: Some(known) }
    }

    /// Whether the tablebases contain the root. The search then does without them: it looks for a
    /// mate, and a capture that the tables know to win would hide it.
    pub(super) fn are_known(&self) -> bool {
        self.known.is_some()
    }

    /// Whether there is only one move.
    pub fn is_forced(&self) -> bool {
        self.moves.len() == 1
    }

    /// Reports the lines of an iteration, with the values and lines of the tablebases in place of
    /// estimates. Mates stay, because they are more precise.
    pub fn present(&self, lines: &mut [Report], report: &mut dyn FnMut(&Report)) {
        if let Some(known) = &self.known {
            known.correct(lines);
        }
        for (place, line) in (1..).zip(lines) {
            line.multipv = place;
            report(line);
        }
    }
}

impl KnownRoot<'_> {
    /// Gives lines that do not mate the values of the tables. Lost positions get the tables' lines,
    /// too, and won ones those of the best moves: the search does not see the way to a distant mate,
    /// or sees a longer one.
    fn correct(&self, lines: &mut [Report]) {
        let first = |line: &Report| line.pv.first().copied();
        let soonest = self.ranked.moves().next().and_then(|mv| self.plies_to_mate(mv));
        let mate = |line: &Report| {
            let plies = line.value.plies_to_mate()?;
            let in_time = line.value < Value::DRAW || soonest.is_none_or(|known| plies <= known);
            in_time.then_some(plies)
        };
        let mating: Vec<Move> =
            lines.iter().filter(|line| mate(line).is_some()).filter_map(first).collect();
        let is_win = |mv: &Move| self.ranked.value(*mv) > Value::DRAW;
        let mut wins = self.ranked.moves().filter(|mv| is_win(mv) && !mating.contains(mv));
        for line in &mut *lines {
            line.tbhits += self.ranked.len() as u64;
            let Some(mut mv) = first(line).filter(|mv| !mating.contains(mv)) else { continue };
            if is_win(&mv) {
                mv = wins.next().unwrap_or(mv);
            }
            (line.value, line.bound) = (self.ranked.value(mv), Bound::Exact);
            if line.value != Value::DRAW {
                line.pv = self.line(mv);
            }
        }
        lines.sort_by_key(|line| match mate(line).filter(|_| line.value > Value::DRAW) {
            Some(plies) => (0, plies, 0),
            None => (1, 0, first(line).map_or(0, |mv| self.ranked.place(mv))),
        });
    }

    /// Plies to the mate at the end of a move's line; `None` if the line does not mate.
    fn plies_to_mate(&self, mv: Move) -> Option<u32> {
        let line = self.line(mv);
        let end = self.position.after_line(&line).ending();
        matches!(end, Some(Ending::Checkmate { .. })).then_some(line.len() as u32)
    }

    /// The line of a move, as the tables play on.
    fn line(&self, mv: Move) -> Vec<Move> {
        let mut lines = self.lines.borrow_mut();
        let line = lines.entry(mv).or_insert_with(|| {
            let replies = self.tables.line(&self.position.after(mv));
            [&[mv], &replies[..]].concat()
        });
        line.clone()
    }
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
