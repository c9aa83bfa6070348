//! Why a search chose its move: what every move seemed worth before the search, how deep it was looked at, and what
//! came back, for the root and the replies.

use anyhow::Result;
use cozy_chess::Move;

use super::bound::Bound;
use super::static_value::static_value;
use super::value::Value;
use crate::inference::Evaluator;
use crate::position::{Position, legal_moves};

/// The root of a search and what became of its moves, the best first.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The position.
    pub root: Position,
    /// Every legal move.
    pub moves: Vec<ExplainedMove>,
}

/// A move and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedMove {
    /// The move.
    pub mv: Move,
    /// The static evaluation of the position that it leads to, for the side that moves.
    pub static_value: Value,
    /// What the search backed up; `None` where the move was dropped.
    pub searched: Option<SearchedMove>,
    /// Every legal reply, the best for its own side first; none where nobody asked for them, or the search did not.
    pub replies: Vec<ExplainedMove>,
}

/// What a search found out about a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchedMove {
    /// The move.
    pub mv: Move,
    /// For the side that moves.
    pub value: Value,
    /// Whether that is its value, or only the most or the least that it can be.
    pub bound: Bound,
    /// Plies that it was looked at, itself included.
    pub depth: u32,
}

/// What a planner has kept of its last search.
pub(super) trait SearchedTree {
    /// What scores positions.
    fn evaluator(&mut self) -> &mut Evaluator;

    /// The moves that the search looked at in `position`, which stands `ply` plies from the root and was itself
    /// looked at to `depth` plies, with values as seen from the root.
    fn searched(&mut self, position: &Position, ply: u32, depth: u32) -> Result<Vec<SearchedMove>>;
}

/// The last search's root, and the moves that it looked at in its last finished iteration.
#[derive(Default)]
pub(super) struct LastSearch {
    root: Option<Position>,
    searched: Vec<SearchedMove>,
}

impl LastSearch {
    pub(super) fn new(root: &Position, searched: Vec<SearchedMove>) -> Self {
        Self { root: Some(root.clone()), searched }
    }

    /// Every root move, and `plies` plies of replies in all; `None` before a search.
    pub(super) fn explain(
        &self,
        plies: u32,
        tree: &mut dyn SearchedTree,
    ) -> Result<Option<Explanation>> {
        let Some(root) = &self.root else { return Ok(None) };
        let moves = explain_moves(root, 0, plies, &self.searched, tree)?;
        Ok(Some(Explanation { root: root.clone(), moves }))
    }
}

/// Every legal move of `position`, `ply` plies from the root, those with the best values first, dropped ones last.
fn explain_moves(
    position: &Position,
    ply: u32,
    plies: u32,
    searched: &[SearchedMove],
    tree: &mut dyn SearchedTree,
) -> Result<Vec<ExplainedMove>> {
    let mut moves = Vec::new();
    for mv in legal_moves(position.board()) {
        let mut after = position.clone();
        after.play(mv);
        let static_value = -static_value(tree.evaluator(), &after, ply + 1)?;
        let searched = searched.iter().find(|searched| searched.mv == mv).copied();
        let replies = match searched {
            Some(SearchedMove { depth: depth @ 2.., .. }) if plies > 1 => {
                let replies = tree.searched(&after, ply + 1, depth - 1)?;
                explain_moves(&after, ply + 1, plies - 1, &replies, tree)?
            }
            _ => Vec::new(),
        };
        moves.push(ExplainedMove { mv, static_value, searched, replies });
    }
    moves.sort_by(|a, b| {
        let rank = |of: &ExplainedMove| of.searched.map_or(Value::MIN, |found| found.value);
        let sure =
            |of: &ExplainedMove| of.searched.is_some_and(|found| found.bound == Bound::Exact);
        rank(b)
            .order(rank(a))
            .then(sure(b).cmp(&sure(a)))
            .then(b.static_value.order(a.static_value))
    });
    Ok(moves)
}

/// Keeps the latest word on a move.
pub(super) fn record_searched(all: &mut Vec<SearchedMove>, found: SearchedMove) {
    match all.iter_mut().find(|known| known.mv == found.mv) {
        Some(known) => *known = found,
        None => all.push(found),
    }
}
