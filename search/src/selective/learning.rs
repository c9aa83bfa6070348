//! Updates of the move histories, the correction history and the transposition table after a thread
//! has searched a node.

use azimuth_chess::position::legal_moves;
use cozy_chess::Board;

use super::history::{History, PieceTo, QuietMove};
use super::move_loop::BestSoFar;
use super::move_picker::{ScoredMove, is_quiet};
use super::parameters::Part;
use super::score::{INFINITE, is_decisive};
use super::search::{Node, NodeInfo};
use super::thread::SearchThread;
use super::transposition_table::Entry;
use crate::value::Bound;

impl SearchThread<'_> {
    /// Records the results of the moves.
    pub fn learn(
        &mut self,
        board: &Board,
        node: Node,
        info: &NodeInfo,
        best: &BestSoFar,
        failed: &[ScoredMove],
    ) {
        let Node { ply, depth, alpha, beta, .. } = node;
        if let Some(good) = best.mv.filter(|_| best.score >= beta && self.has(Part::History)) {
            self.update_histories(board, node, good, failed);
        }
        if self.stack[ply].excluded_move.is_some() || ply == 0 && self.finished_lines > 0 {
            return;
        }
        let parameters = &self.shared.parameters;
        match best.mv {
            _ if !self.has(Part::History) => {}
            None => self.teach_last_move(board, node, parameters.history_unrefuted),
            Some(_) if best.score >= beta => {
                self.teach_last_move(board, node, -parameters.history_refuted);
            }
            Some(_) => {}
        }
        let entry = Entry {
            mv: best.mv.map(|best| best.mv),
            score: best.score,
            static_eval: self.stack[ply].encoded,
            depth,
            bound: Bound::of(best.score, alpha, beta),
            was_pv: info.was_pv,
        };
        // The score of some root moves (`searchmoves`, tablebases) is not that of the position.
        // Only the move is stored, with a bound that excludes nothing.
        if ply == 0 && self.root_moves.len() < legal_moves(board).len() {
            let entry = Entry { score: INFINITE, bound: Bound::Upper, ..entry };
            self.store_in_table(board, ply, entry);
            return;
        }
        self.learn_correction(node, best, &entry);
        self.store_in_table(board, ply, entry);
    }

    /// Updates the correction history, if the score bounds the error and no capture explains it.
    fn learn_correction(&mut self, node: Node, best: &BestSoFar, entry: &Entry) {
        let here = &self.stack[node.ply];
        let (Some(static_eval), Some(places)) = (here.static_eval, here.correction) else { return };
        let is_quiet = best.mv.is_none_or(|best| best.is_quiet);
        if entry.tightens(static_eval) && is_quiet && !is_decisive(best.score) {
            self.data.correction.update(&places, best.score - static_eval, node.depth);
        }
    }

    /// Gives the quiet move that led here a bonus because no move refuted it, or a malus: `percent`
    /// of a cutoff's bonus.
    fn teach_last_move(&mut self, board: &Board, node: Node, percent: i32) {
        let Some(before) = node.ply.checked_sub(1) else { return };
        let Some(made) = self.stack[before].moved.filter(|made| made.is_quiet) else { return };
        let bonus = self.shared.parameters.history_bonus(node.depth) * percent / 100;
        let quiet = QuietMove::made(!board.side_to_move(), made, self.quiet_context(before));
        self.data.history.update_quiet(quiet, bonus);
    }

    /// Updates the histories with the move that caused the cutoff and the moves that did not.
    fn update_histories(
        &mut self,
        board: &Board,
        node: Node,
        good: ScoredMove,
        failed: &[ScoredMove],
    ) {
        let context = self.quiet_context(node.ply);
        let bonus = self.shared.parameters.history_bonus(node.depth);
        let malus = bonus * self.shared.parameters.history_malus / 100;
        let quiet = |scored: ScoredMove| QuietMove::new(board, scored.mv, context);
        let capture = |history: &mut History, ScoredMove { mv, piece, .. }, bonus| {
            history.update_capture(PieceTo::new(piece, mv.to), board.piece_on(mv.to), bonus);
        };
        let history = &mut self.data.history;
        if good.is_quiet {
            history.update_quiet(quiet(good), bonus);
            let killers = &mut self.stack[node.ply].killers;
            if killers[0] != Some(good.mv) {
                *killers = [Some(good.mv), killers[0]];
            }
        } else {
            capture(history, good, bonus);
        }
        for bad in failed {
            match bad.is_quiet {
                true if good.is_quiet => {
                    history.update_quiet(quiet(*bad), -malus);
                }
                true => {}
                false => capture(history, *bad, -malus),
            }
        }
    }

    /// Updates the histories with the table move that cuts off the node.
    pub fn learn_from_table(&mut self, board: &Board, node: Node, entry: &Entry) {
        let Some(mv) = entry.mv.filter(|_| entry.score >= node.beta) else { return };
        if self.has(Part::TableHistory) && self.has(Part::History) && is_quiet(board, mv) {
            self.prepare_context(board, node.ply);
            let quiet = QuietMove::new(board, mv, self.quiet_context(node.ply));
            let bonus = self.shared.parameters.history_bonus(node.depth);
            self.data.history.update_quiet(quiet, bonus);
        }
    }

    /// Updates the last move's history by its change of the static evaluation.
    pub fn learn_from_eval(&mut self, board: &Board, ply: usize) {
        let Some(made) = self.stack[ply - 1].moved.filter(|made| made.is_quiet) else { return };
        let Some(gained) = self.gained(ply) else { return };
        if self.has(Part::EvalHistory) && self.has(Part::History) {
            let parameters = &self.shared.parameters;
            let most = parameters.eval_history_maximum;
            let bonus = -gained.clamp(-most, most) * parameters.eval_history / 16;
            let quiet = QuietMove::made(!board.side_to_move(), made, self.quiet_context(ply - 1));
            self.data.history.update_butterfly(quiet, bonus);
        }
    }
}
