//! Explanations of a search: the static value, depth and search value of every move at the root,
//! and of the replies.

use anyhow::Result;
use azimuth_chess::position::{Position, legal_moves};
use cozy_chess::Move;

use crate::inference::Evaluator;
use crate::value::{Bound, Value, static_value};

/// The root of a search and its moves, best first.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The position.
    pub root: Position,
    /// Every legal move.
    pub moves: Vec<ExplainedMove>,
}

/// A move with its static, verified and search values.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedMove {
    /// The move.
    pub mv: Move,
    /// The static evaluation of the position after the move, for the side that makes the move.
    pub static_value: Value,
    /// The verified value; `None` if the planner verifies nothing.
    pub verified: Option<VerifiedMove>,
    /// The search result; `None` if the move was dropped.
    pub searched: Option<SearchedMove>,
    /// Every legal reply, best first for the side to reply; empty if replies were not requested, or
    /// not searched.
    pub replies: Vec<ExplainedMove>,
}

/// The value with which a planner verified a move: that of the quiet position at the end of a
/// search of a few plies.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedMove {
    /// The value for the side that makes the move.
    pub value: Value,
    /// Plies searched after the move, before quiescence search; 0 also where no search was needed.
    pub plies: u32,
    /// The moves that follow, up to the quiet position.
    pub line: Vec<Move>,
}

/// The result of searching a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchedMove {
    /// The move.
    pub mv: Move,
    /// The value for the side that makes the move.
    pub value: Value,
    /// Whether the value is exact, or an upper or lower bound.
    pub bound: Bound,
    /// Depth of the search in plies, including the move itself.
    pub depth: u32,
}

/// The part of a planner's last search that it keeps.
pub trait SearchedTree {
    /// The evaluator that scores positions.
    fn evaluator(&mut self) -> &mut Evaluator;

    /// The moves searched in `position`, with values from the root's view. `position` is `ply`
    /// plies from the root and was searched to `depth` plies.
    fn searched(&mut self, position: &Position, ply: u32, depth: u32) -> Result<Vec<SearchedMove>>;

    /// The verified values of `moves`, which are legal in `position`, in the same order and from
    /// the root's view; none if the search verified nothing.
    fn verified(
        &mut self,
        _position: &Position,
        _ply: u32,
        _moves: &[Move],
    ) -> Result<Vec<VerifiedMove>> {
        Ok(Vec::new())
    }
}

/// The last search's root, and the root moves searched in its last complete iteration.
#[derive(Default)]
pub struct LastSearch {
    root: Option<Position>,
    searched: Vec<SearchedMove>,
}

impl LastSearch {
    pub fn new(root: &Position, searched: Vec<SearchedMove>) -> Self {
        Self { root: Some(root.clone()), searched }
    }

    /// Whether the root had the same board.
    pub fn is_of(&self, root: &Position) -> bool {
        self.root.as_ref().is_some_and(|last| last.board() == root.board())
    }

    /// Explains every root move, to `plies` plies of replies in all; `None` before the first
    /// search.
    pub fn explain(&self, plies: u32, tree: &mut dyn SearchedTree) -> Result<Option<Explanation>> {
        let Some(root) = &self.root else { return Ok(None) };
        let mut moves = explain_moves(root, 0, plies, &self.searched, tree)?;
        // Verify the moves that the search followed first: searches of dropped moves may overwrite
        // their entries in the tables.
        for followed in [true, false] {
            verify(root, 0, followed, &mut moves, tree)?;
        }
        Ok(Some(Explanation { root: root.clone(), moves }))
    }
}

/// Every legal move of `position`, which is `ply` plies from the root: best values first, dropped
/// moves last.
fn explain_moves(
    position: &Position,
    ply: u32,
    plies: u32,
    searched: &[SearchedMove],
    tree: &mut dyn SearchedTree,
) -> Result<Vec<ExplainedMove>> {
    let mut moves = Vec::new();
    for mv in legal_moves(position.board()) {
        let after = position.after(mv);
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

/// Adds the verified values of the moves that the search followed (or of those that it dropped),
/// and of their replies.
fn verify(
    position: &Position,
    ply: u32,
    followed: bool,
    moves: &mut [ExplainedMove],
    tree: &mut dyn SearchedTree,
) -> Result<()> {
    let is_meant = |explained: &&mut ExplainedMove| explained.searched.is_some() == followed;
    let meant: Vec<&mut ExplainedMove> = moves.iter_mut().filter(is_meant).collect();
    let asked: Vec<Move> = meant.iter().map(|explained| explained.mv).collect();
    for (explained, verified) in meant.into_iter().zip(tree.verified(position, ply, &asked)?) {
        explained.verified = Some(verified);
    }
    for explained in moves.iter_mut().filter(|explained| !explained.replies.is_empty()) {
        let after = position.after(explained.mv);
        verify(&after, ply + 1, followed, &mut explained.replies, tree)?;
    }
    Ok(())
}

/// Replaces the result recorded for a move, or adds it.
pub fn record_searched(all: &mut Vec<SearchedMove>, found: SearchedMove) {
    match all.iter_mut().find(|known| known.mv == found.mv) {
        Some(known) => *known = found,
        None => all.push(found),
    }
}
