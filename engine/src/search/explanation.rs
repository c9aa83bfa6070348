//! Why a search chose its move: what every move seemed worth before the search, how deep it was looked at, and what
//! came back, for the root and the replies.

use anyhow::Result;
use azimuth_chess::position::{Position, legal_moves};
use cozy_chess::Move;

use super::bound::Bound;
use super::static_value::static_value;
use super::value::Value;
use crate::inference::Evaluator;

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
    /// Its verified value; `None` of a planner that verifies nothing.
    pub verified: Option<VerifiedMove>,
    /// What the search backed up; `None` where the move was dropped.
    pub searched: Option<SearchedMove>,
    /// Every legal reply, the best for its own side first; none where nobody asked for them, or the search did not.
    pub replies: Vec<ExplainedMove>,
}

/// The value that a planner verified a move with: that of the quiet position which a search of a few plies leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedMove {
    /// For the side that moves.
    pub value: Value,
    /// Plies of the search after the move, before quiescence search; 0 also where the value needs no search.
    pub plies: u32,
    /// The moves after it, to the quiet position.
    pub line: Vec<Move>,
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

    /// The verified values of `moves`, which are legal in `position`, in their order and as seen from the root; none
    /// where the search verified nothing.
    fn verified(
        &mut self,
        _position: &Position,
        _ply: u32,
        _moves: &[Move],
    ) -> Result<Vec<VerifiedMove>> {
        Ok(Vec::new())
    }
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
        let mut moves = explain_moves(root, 0, plies, &self.searched, tree)?;
        // The tables answer for the moves that the search followed, until searches of dropped ones overwrite them.
        for followed in [true, false] {
            verify(root, 0, followed, &mut moves, tree)?;
        }
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
        moves.push(ExplainedMove { mv, static_value, verified: None, searched, replies });
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

/// Adds the verified values of the moves that the search followed, or of those that it dropped, and of replies likewise.
fn verify(
    position: &Position,
    ply: u32,
    followed: bool,
    moves: &mut [ExplainedMove],
    tree: &mut dyn SearchedTree,
) -> Result<()> {
    let is_meant = |explained: &ExplainedMove| explained.searched.is_some() == followed;
    let meant: Vec<Move> =
        moves.iter().filter(|explained| is_meant(explained)).map(|known| known.mv).collect();
    let verified = tree.verified(position, ply, &meant)?;
    let explained = moves.iter_mut().filter(|explained| is_meant(explained));
    for (explained, verified) in explained.zip(verified) {
        explained.verified = Some(verified);
    }
    for explained in moves.iter_mut().filter(|explained| !explained.replies.is_empty()) {
        let mut after = position.clone();
        after.play(explained.mv);
        verify(&after, ply + 1, followed, &mut explained.replies, tree)?;
    }
    Ok(())
}

/// Keeps the latest word on a move.
pub(super) fn record_searched(all: &mut Vec<SearchedMove>, found: SearchedMove) {
    match all.iter_mut().find(|known| known.mv == found.mv) {
        Some(known) => *known = found,
        None => all.push(found),
    }
}
