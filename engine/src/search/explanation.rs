//! Why a search chose its move: what every root move seemed worth before the search, how deep it was
//! looked at, and what came back.

use anyhow::Result;
use cozy_chess::Move;

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

/// A root move and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedMove {
    /// The move.
    pub mv: Move,
    /// The static evaluation of the position that it leads to, for the side that moves.
    pub static_value: Value,
    /// What the search backed up; `None` where the move was dropped.
    pub searched: Option<SearchedMove>,
}

/// What a search found out about a root move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchedMove {
    /// The move.
    pub mv: Move,
    /// For the side that moves.
    pub value: Value,
    /// Whether that is its value, or only the most that it can be.
    pub exact: bool,
    /// Plies that it was looked at, itself included.
    pub depth: u32,
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

    /// Every root move, those with the best values first, dropped ones last; `None` before a search.
    pub(super) fn explain(&self, evaluator: &mut Evaluator) -> Result<Option<Explanation>> {
        let Some(root) = &self.root else { return Ok(None) };
        let mut moves = Vec::new();
        for mv in legal_moves(root.board()) {
            let mut after = root.clone();
            after.play(mv);
            let static_value = -static_value(evaluator, &after, 1)?;
            let searched = self.searched.iter().find(|searched| searched.mv == mv).copied();
            moves.push(ExplainedMove { mv, static_value, searched });
        }
        moves.sort_by(|a, b| {
            let rank = |of: &ExplainedMove| of.searched.map_or(Value::MIN, |found| found.value);
            let sure = |of: &ExplainedMove| of.searched.is_some_and(|found| found.exact);
            rank(b)
                .order(rank(a))
                .then(sure(b).cmp(&sure(a)))
                .then(b.static_value.order(a.static_value))
        });
        Ok(Some(Explanation { root: root.clone(), moves }))
    }
}

/// Keeps the latest word on a move.
pub(super) fn record_searched(all: &mut Vec<SearchedMove>, found: SearchedMove) {
    match all.iter_mut().find(|known| known.mv == found.mv) {
        Some(known) => *known = found,
        None => all.push(found),
    }
}
