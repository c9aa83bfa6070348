//! Reductions: nodes and moves that promise little are searched less deep at first.

use super::candidate::CandidateMove;
use super::node::{Node, NodeInfo};
use super::parameters::{self, IIR_MIN_DEPTH, LMR_HISTORY_DIVISOR, LMR_ONE_PLY};
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
        let reduction = parameters::late_move_reduction(node.depth, *move_count)
            + i32::from(node.cut_node) * 3 * LMR_ONE_PLY / 2
            + i32::from(!info.improving) * LMR_ONE_PLY / 2
            - i32::from(node.is_pv()) * LMR_ONE_PLY
            - i32::from(*gives_check) * LMR_ONE_PLY
            - i32::from(is_killer) * LMR_ONE_PLY
            - history * LMR_ONE_PLY / LMR_HISTORY_DIVISOR;
        reduction / LMR_ONE_PLY
    }
}
