//! Pruning of whole nodes before their moves are searched: reverse futility pruning, razoring, null
//! move pruning and ProbCut.

use azimuth_chess::position::has_non_pawn_material;
use cozy_chess::Board;

use super::node::{Node, NodeInfo};
use super::parameters::{NULL_MOVE_MIN_DEPTH, RAZORING_MAX_DEPTH, REVERSE_FUTILITY_MAX_DEPTH};
use super::parts::Part;
use super::score::{Score, is_decisive};
use super::thread::SearchThread;
use super::transposition_table::Entry;
use crate::search::bound::Bound;

impl SearchThread<'_> {
    /// A score for the node if its true score is very probably outside the window; `None` if its
    /// moves have to be searched.
    pub(super) fn prune_node(
        &mut self,
        board: &Board,
        node: Node,
        info: &NodeInfo,
    ) -> Option<Score> {
        let static_eval = info.static_eval.filter(|_| !is_decisive(node.beta))?;
        let eval = bounded_eval(static_eval, info.entry);
        if let Some(score) = self.reverse_futility_pruning(node, eval, info.improving) {
            return Some(score);
        }
        if let Some(score) = self.razoring(board, node, eval) {
            return Some(score);
        }
        if let Some(score) = self.null_move_pruning(board, node, eval) {
            return Some(score);
        }
        self.probcut(board, node, info)
    }

    /// The static evaluation is so far above beta that the score is unlikely to drop below beta.
    fn reverse_futility_pruning(&self, node: Node, eval: Score, improving: bool) -> Option<Score> {
        let Node { depth, beta, .. } = node;
        let margin = self.shared.parameters.reverse_futility_margin;
        let margin = margin * (depth - i32::from(improving));
        let prunes = self.has(Part::ReverseFutilityPruning)
            && depth <= REVERSE_FUTILITY_MAX_DEPTH
            && eval - margin >= beta;
        prunes.then_some((eval + beta) / 2)
    }

    /// The static evaluation is so far below alpha that only a capture can raise it above alpha:
    /// quiescence search decides.
    fn razoring(&mut self, board: &Board, node: Node, eval: Score) -> Option<Score> {
        let Node { depth, alpha, .. } = node;
        let margin = self.shared.parameters.razoring_margin * depth;
        let far_below = depth <= RAZORING_MAX_DEPTH && eval + margin <= alpha;
        if !far_below || !self.has(Part::Razoring) {
            return None;
        }
        let score = self.quiescence(board, node);
        (score <= alpha).then_some(score)
    }

    /// A search of reduced depth reaches beta although the side to move passes.
    fn null_move_pruning(&mut self, board: &Board, node: Node, eval: Score) -> Option<Score> {
        let Node { ply, depth, beta, cut_node, .. } = node;
        let after_null_move = self.stack[ply - 1].moved.is_none();
        let worth_trying = self.has(Part::NullMovePruning)
            && depth >= NULL_MOVE_MIN_DEPTH
            && !after_null_move
            && eval >= beta
            // With pawns alone, zugzwang is common: passing may be better than any move.
            && has_non_pawn_material(board);
        let child = worth_trying.then(|| board.null_move()).flatten()?;
        let by_eval = (eval - beta) / self.shared.parameters.null_move_eval_divisor;
        let reduction = self.shared.parameters.null_move_base + depth / 3 + by_eval.min(3);
        let reduced = Node {
            ply: ply + 1,
            depth: depth - reduction,
            alpha: -beta,
            beta: 1 - beta,
            cut_node: !cut_node,
        };
        self.make_null_move(board, ply);
        let score = -self.search(&child, reduced);
        self.unmake_move();
        let holds = score >= beta && !self.stopped;
        holds.then_some(if is_decisive(score) { beta } else { score })
    }
}

/// The static evaluation, replaced by the table's score if that is a tighter bound.
fn bounded_eval(static_eval: Score, entry: Option<Entry>) -> Score {
    match entry {
        Some(Entry { score, .. }) if is_decisive(score) => static_eval,
        Some(Entry { score, bound: Bound::Lower, .. }) => static_eval.max(score),
        Some(Entry { score, bound: Bound::Upper, .. }) => static_eval.min(score),
        _ => static_eval,
    }
}
