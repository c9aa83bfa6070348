//! Reductions: unpromising nodes and moves are first searched with reduced depth.

use super::candidate::CandidateMove;
use super::node::{Node, NodeInfo};
use super::parameters::{IIR_MIN_DEPTH, LMR_ONE_PLY};
use super::parts::Part;
use super::thread::SearchThread;

impl SearchThread<'_> {
    /// Internal iterative reduction: without a table move, a search of reduced depth finds one for
    /// the next visit.
    pub(super) fn internal_iterative_reduction(&self, node: Node, info: &NodeInfo) -> i32 {
        let no_table_move = info.entry.is_none_or(|entry| entry.mv.is_none());
        let reduces = self.has(Part::InternalIterativeReductions)
            && no_table_move
            && node.depth >= IIR_MIN_DEPTH
            && (node.is_pv() || node.cut_node);
        i32::from(reduces)
    }

    /// Change of depth, in plies, at a node whose move was reduced, now that its static evaluation
    /// is known.
    pub(super) fn hindsight(&self, node: Node) -> i32 {
        let reduction = self.stack[node.ply - 1].reduction;
        match self.gained(node.ply) {
            Some(gained) if self.has(Part::Hindsight) => {
                let far_better = gained > self.shared.parameters.hindsight_margin;
                i32::from(reduction >= 3 && gained <= 0)
                    - i32::from(reduction >= 2 && node.depth >= 2 && far_better)
            }
            _ => 0,
        }
    }

    /// Plies by which the first search of a late move is reduced.
    pub(super) fn late_move_reduction(
        &self,
        node: Node,
        info: &NodeInfo,
        candidate: &CandidateMove,
    ) -> i32 {
        let CandidateMove { scored, gives_check, move_count, .. } = candidate;
        if !self.has(Part::LateMoveReductions) || node.depth < 3 {
            return 0;
        }
        let is_killer = self.stack[node.ply].killers.contains(&Some(scored.mv));
        let no_table_move = info.entry.is_none_or(|entry| entry.mv.is_none());
        let safe_capture = !scored.is_quiet && !scored.loses_material();
        let parameters = &self.shared.parameters;
        let reduction = self.shared.late_moves.reduction(node.depth, *move_count)
            + i32::from(node.cut_node) * parameters.lmr_cut_node
            + i32::from(node.cut_node && no_table_move) * parameters.lmr_no_table_move
            + i32::from(!info.improving) * parameters.lmr_not_improving
            - i32::from(node.is_pv()) * parameters.lmr_pv
            - i32::from(info.was_pv) * parameters.lmr_was_pv
            + i32::from(info.table_move_captures) * parameters.lmr_table_capture
            + i32::from(self.stack[node.ply + 1].cutoffs > 3) * parameters.lmr_cutoffs
            - i32::from(safe_capture) * parameters.lmr_capture
            - i32::from(*gives_check) * parameters.lmr_check
            - i32::from(is_killer) * parameters.lmr_killer
            - scored.history * LMR_ONE_PLY / parameters.lmr_history_divisor;
        reduction / LMR_ONE_PLY
    }
}
