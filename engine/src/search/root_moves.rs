//! The root moves that a search considers, and its reported lines; shared by all planners.

use azimuth_chess::position::{Position, legal_moves};
use cozy_chess::Move;

use super::control::Limits;
use super::report::Report;
use super::tablebase::{RankedMoves, Tablebases};

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
    use anyhow::Result;

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
