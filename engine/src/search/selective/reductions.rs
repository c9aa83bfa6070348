//! Reductions: nodes and moves that promise little are searched less deep at first.

use super::candidate::CandidateMove;
use super::node::{Node, NodeInfo};
use super::parameters::{IIR_MIN_DEPTH, LMR_ONE_PLY};
use super::parts::Part;
use super::thread::SearchThread;

impl SearchThread<'_> {
    /// Internal iterative reduction: where the table has no move, a search less deep finds one for the next
    /// time.
    pub(super) fn internal_iterative_reduction(&self, node: Node, info: &NodeInfo) -> i32 {
        let no_table_move = info.entry.is_none_or(|entry| entry.mv.is_none());
        let reduces = self.has(Part::InternalIterativeReductions)
            && no_table_move
            && node.depth >= IIR_MIN_DEPTH
            && (node.is_pv() || node.cut_node);
        i32::from(reduces)
    }

    /// Plies by which a late move is searched less deep at first.
    pub(super) fn late_move_reduction(
        &self,
        node: Node,
        info: &NodeInfo,
        candidate: &CandidateMove,
    ) -> i32 {
        let CandidateMove { scored, gives_check, history, move_count, .. } = candidate;
        let may_reduce = scored.is_quiet || scored.loses_material();
        if !self.has(Part::LateMoveReductions) || node.depth < 3 || !may_reduce {
            return 0;
        }
        let is_killer = self.stack[node.ply].killers.contains(&Some(scored.mv));
        let parameters = &self.shared.parameters;
        let reduction = self.shared.late_moves.reduction(node.depth, *move_count)
            + i32::from(node.cut_node) * parameters.lmr_cut_node
            + i32::from(!info.improving) * parameters.lmr_not_improving
            - i32::from(node.is_pv()) * parameters.lmr_pv
            - i32::from(*gives_check) * parameters.lmr_check
            - i32::from(is_killer) * parameters.lmr_killer
            - history * LMR_ONE_PLY / parameters.lmr_history_divisor;
        reduction / LMR_ONE_PLY
    }
}
