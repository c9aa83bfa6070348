//! Pruning of moves near the leaves: late move pruning, futility pruning, history pruning and SEE
//! pruning.

use azimuth_chess::see::StaticExchange;

use super::candidate::CandidateMove;
use super::node::{Node, NodeInfo};
use super::parameters::{FUTILITY_MAX_DEPTH, LMR_ONE_PLY, PAWN_VALUE, SEE_PRUNING_MAX_DEPTH};
use super::parts::Part;
use super::thread::SearchThread;

impl SearchThread<'_> {
    /// Whether to skip a move near the leaves.
    pub(super) fn prunes_move(
        &self,
        node: Node,
        info: &NodeInfo,
        candidate: &CandidateMove,
        exchange: &StaticExchange<'_>,
    ) -> bool {
        let reduction = self.shared.late_moves.reduction(node.depth, candidate.move_count);
        let by_history = match self.has(Part::PruningByHistory) && candidate.scored.is_quiet {
            true => {
                candidate.scored.history * LMR_ONE_PLY
                    / self.shared.parameters.pruning_history_divisor
            }
            false => 0,
        };
        let reduced_depth = (node.depth - (reduction - by_history) / LMR_ONE_PLY).max(0);
        let is_dull = candidate.scored.is_quiet && !candidate.gives_check;
        let prunes_quiet = || {
            self.late_move_pruning(node, info, candidate)
                || self.futility_pruning(node, info, reduced_depth)
                || self.history_pruning(node, candidate)
        };
        let is_futile_capture = || {
            !candidate.scored.is_quiet
                && !candidate.gives_check
                && self.capture_futility_pruning(node, info, candidate, exchange, reduced_depth)
        };
        is_dull && prunes_quiet()
            || is_futile_capture()
            || self.see_pruning(node, candidate, exchange, reduced_depth)
    }

    /// Enough quiet moves have been searched.
    fn late_move_pruning(&self, node: Node, info: &NodeInfo, candidate: &CandidateMove) -> bool {
        let enough = self.shared.parameters.late_move_count(node.depth, info.improving);
        self.has(Part::LateMovePruning) && candidate.quiet_count >= enough
    }

    /// The static evaluation is too far below alpha for a quiet move. In check there is none, so
    /// nothing is pruned.
    fn futility_pruning(&self, node: Node, info: &NodeInfo, reduced_depth: i32) -> bool {
        let parameters = &self.shared.parameters;
        let margin = parameters.futility_base + parameters.futility_margin * reduced_depth;
        self.has(Part::FutilityPruning)
            && reduced_depth <= FUTILITY_MAX_DEPTH
            && info.static_eval.is_some_and(|static_eval| static_eval + margin <= node.alpha)
    }

    /// The move's history is very bad.
    fn history_pruning(&self, node: Node, candidate: &CandidateMove) -> bool {
        let margin = self.shared.parameters.history_pruning_margin;
        self.has(Part::HistoryPruning) && candidate.scored.history < -margin * node.depth
    }

    /// The static evaluation is too far below alpha for the material that the capture wins.
    fn capture_futility_pruning(
        &self,
        node: Node,
        info: &NodeInfo,
        candidate: &CandidateMove,
        exchange: &StaticExchange<'_>,
        reduced_depth: i32,
    ) -> bool {
        let parameters = &self.shared.parameters;
        let margin =
            parameters.capture_futility_base + parameters.capture_futility_margin * reduced_depth;
        let won = || exchange.see_of_move(candidate.scored.mv) * PAWN_VALUE;
        self.has(Part::FutilityPruning)
            && reduced_depth <= FUTILITY_MAX_DEPTH
            && info.static_eval.is_some_and(|static_eval| {
                static_eval + margin <= node.alpha && static_eval + margin + won() <= node.alpha
            })
    }

    /// The move loses more material by static exchange than a search of this depth can be expected
    /// to win back.
    fn see_pruning(
        &self,
        node: Node,
        candidate: &CandidateMove,
        exchange: &StaticExchange<'_>,
        reduced_depth: i32,
    ) -> bool {
        let scored = &candidate.scored;
        let allowed_loss =
            if scored.is_quiet { reduced_depth * reduced_depth / 4 } else { node.depth };
        self.has(Part::SeePruning)
            && node.depth <= SEE_PRUNING_MAX_DEPTH
            && (scored.is_quiet || scored.loses_material())
            && exchange.see_of_move(scored.mv) < -allowed_loss
    }
}
