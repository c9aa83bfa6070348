//! A position of the tree: principal variation search, selective in what it looks at.

use std::sync::atomic::Ordering::Relaxed;

use anyhow::Result;
use cozy_chess::Board;

use super::margins;
use super::parts::Part;
use super::score::{DRAW, Score, is_certain, mated_in, of_tablebase};
use super::table::{Bound, Known};
use super::thread::{MAX_PLY, Thread};
use crate::position::{has_non_pawn_material, repetition_key};
use crate::search::rules;

/// From this half-move clock on scores of the table are not trusted: the 50-move rule is near.
const LATE: u8 = 90;

/// How a position is looked at.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// Plies from the root.
    pub(super) ply: usize,
    /// Plies to go.
    pub(super) depth: i32,
    /// Scores between these two are exact, others are bounds.
    pub(super) alpha: Score,
    pub(super) beta: Score,
    /// Whether the score is expected to reach `beta`.
    pub(super) cut: bool,
}

impl Node {
    /// Whether the window is more than a single step wide.
    pub(super) fn is_pv(&self) -> bool {
        self.beta - self.alpha > 1
    }

    /// The same position in a window of no width at `beta`.
    pub(super) fn below(self, beta: Score, depth: i32) -> Self {
        Self { depth, alpha: beta - 1, beta, ..self }
    }

    /// Whether what is `known` is enough.
    pub(super) fn is_settled_by(&self, known: &Known) -> bool {
        match known.bound {
            Bound::Exact => true,
            Bound::Lower => known.score >= self.beta,
            Bound::Upper => known.score <= self.alpha,
        }
    }
}

/// What is known of a position before its moves are searched.
pub(super) struct Outlook {
    pub(super) known: Option<Known>,
    /// The position's own score; none in check.
    pub(super) own: Option<Score>,
    /// Whether the side to move stands better than at its last move.
    pub(super) improving: bool,
}

impl Thread<'_> {
    /// The score of a position by its moves, exact inside the window of `node`, a bound outside.
    pub(super) fn search(&mut self, board: &Board, mut node: Node) -> Result<Score> {
        if node.depth <= 0 {
            return self.resolve(board, node);
        }
        let ply = node.ply;
        self.frames[ply].line.clear();
        if self.visit(ply) {
            return Ok(DRAW);
        }
        if ply > 0 {
            if let Some(score) = self.exact(board, ply) {
                return Ok(score);
            }
            // No line is worth more than the shortest mate.
            node.alpha = node.alpha.max(mated_in(ply));
            node.beta = node.beta.min(-mated_in(ply + 1));
            if node.alpha >= node.beta {
                return Ok(node.alpha);
            }
        }
        let excluded = self.frames[ply].excluded;
        let known = self.look_up(board, ply);
        if let Some(known) = known
            && excluded.is_none()
            && !node.is_pv()
            && known.depth >= node.depth
            && node.is_settled_by(&known)
            && board.halfmove_clock() < LATE
        {
            return Ok(known.score);
        }
        let own = match excluded {
            Some(_) => self.frames[ply].own,
            None => self.score_position(board, ply, known)?,
        };
        if ply >= MAX_PLY {
            return Ok(own.unwrap_or(DRAW));
        }
        let outlook = Outlook { known, own, improving: self.is_improving(ply) };
        if !node.is_pv()
            && excluded.is_none()
            && let Some(score) = self.prune(board, node, &outlook)?
        {
            return Ok(score);
        }
        // What is worth looking at is not known yet: a look less deep tells.
        let unknown = known.is_none_or(|known| known.mv.is_none());
        let reduced = self.has(Part::Reductions) && unknown;
        if reduced && node.depth >= margins::UNKNOWN_DEPTH && (node.is_pv() || node.cut) {
            node.depth -= 1;
        }
        self.try_moves(board, node, &outlook)
    }

    /// The score of a position where the game is over but for mate and stalemate, or that the tables know.
    pub(super) fn exact(&self, board: &Board, ply: usize) -> Option<Score> {
        if rules::is_drawn(board, ply as u32, &self.keys) {
            return Some(DRAW);
        }
        let value = self.shared.tables?.value(board, ply as u32)?;
        self.shared.tbhits.fetch_add(1, Relaxed);
        Some(of_tablebase(value, ply))
    }

    fn is_improving(&self, ply: usize) -> bool {
        let own = |back: usize| ply.checked_sub(back).and_then(|ply| self.frames[ply].own);
        own(0).zip(own(2).or_else(|| own(4))).is_some_and(|(now, before)| now > before)
    }

    /// Ends the search where the score is out of reach of the window, as far as can be seen without the
    /// moves.
    fn prune(&mut self, board: &Board, node: Node, outlook: &Outlook) -> Result<Option<Score>> {
        let Node { ply, depth, alpha, beta, .. } = node;
        let Some(own) = outlook.own.filter(|_| !is_certain(beta)) else { return Ok(None) };
        // A search says more than the position's own score, where it bounds it.
        let own = match outlook.known {
            Some(Known { score, bound: Bound::Lower, .. }) if !is_certain(score) => own.max(score),
            Some(Known { score, bound: Bound::Upper, .. }) if !is_certain(score) => own.min(score),
            _ => own,
        };
        if self.has(Part::Futility) {
            let plies = depth - i32::from(outlook.improving);
            if depth <= margins::GOOD_DEPTH && own - margins::GOOD * plies >= beta {
                return Ok(Some((own + beta) / 2));
            }
            if depth <= margins::BAD_DEPTH && own + margins::BAD * depth <= alpha {
                let score = self.resolve(board, node)?;
                if score <= alpha {
                    return Ok(Some(score));
                }
            }
        }
        let passed = self.frames[ply - 1].moved.is_none();
        let may_pass = self.has(Part::NullMove) && depth >= margins::NULL_DEPTH && !passed;
        if !may_pass || own < beta || !has_non_pawn_material(board) {
            return Ok(None);
        }
        let Some(child) = board.null_move() else { return Ok(None) };
        let ahead = ((own - beta) / margins::NULL_STEP).min(3);
        self.frames[ply].moved = None;
        self.keys.push(repetition_key(board));
        let reduced = Node {
            ply: ply + 1,
            depth: depth - 3 - depth / 3 - ahead,
            alpha: -beta,
            beta: 1 - beta,
            cut: !node.cut,
        };
        let score = -self.search(&child, reduced)?;
        self.keys.pop();
        let holds = score >= beta && !self.stopped;
        Ok(holds.then_some(if is_certain(score) { beta } else { score }))
    }
}
