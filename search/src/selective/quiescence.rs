//! Quiescence search at the leaves: captures and promotions are searched until the position is
//! quiet, because the encoder's scores are unreliable in the middle of an exchange.

use azimuth_chess::placement::Placement;
use azimuth_chess::position::board_after;
use azimuth_chess::see::{StaticExchange, piece_value};
use cozy_chess::Board;

use super::move_picker::{Kind, MovePicker, ScoredMove};
use super::parameters::{PAWN_VALUE, Part, QUIESCENCE_MAX_MOVES};
use super::score::{DRAW, INFINITE, Score, is_loss, mated_in};
use super::search::{LATE_HALFMOVE_CLOCK, Node};
use super::thread::{MAX_PLY, SearchThread};
use super::transposition_table::Entry;
use crate::value::Bound;

impl SearchThread<'_> {
    /// The score of a position by captures and promotions alone, which the side to move may decline
    /// (stand pat). In check, all moves are searched.
    pub fn quiescence(&mut self, board: &Board, mut node: Node) -> Score {
        let Node { ply, beta, .. } = node;
        self.stack[ply].pv.clear();
        if self.count_node(ply) {
            return DRAW;
        }
        if ply > 0
            && let Some(score) = self.draw_or_tablebase_score(board, ply, node.depth)
        {
            return score;
        }
        self.prepare_evaluation(board, ply);
        let entry = self.probe_table(board, ply);
        let is_late = board.halfmove_clock() >= LATE_HALFMOVE_CLOCK;
        if let Some(entry) = entry
            && !node.is_pv()
            && node.is_cut_by(&entry)
            && !is_late
        {
            return entry.score;
        }
        let static_eval = self.evaluate(board, ply, entry);
        if ply >= MAX_PLY {
            return static_eval.unwrap_or(DRAW);
        }
        let first_alpha = node.alpha;
        let mut best_score = match (static_eval, entry) {
            (None, _) => -INFINITE,
            (Some(stand_pat), Some(entry)) if entry.tightens(stand_pat) && !is_late => entry.score,
            (Some(stand_pat), _) => stand_pat,
        };
        let in_check = static_eval.is_none();
        if in_check {
            self.prepare_context(board, ply);
        }
        if best_score >= beta && !in_check {
            self.stand_pat_on(board);
        }
        if best_score >= beta || !in_check && !self.has(Part::Quiescence) {
            return best_score;
        }
        node.alpha = node.alpha.max(best_score);
        let kind = if in_check { Kind::Any } else { Kind::Captures };
        let table_move = entry.and_then(|entry| entry.mv);
        let mut picker = MovePicker::new(kind, table_move, &mut self.stack[ply].moves);
        let placement = Placement::of(board);
        let exchange = StaticExchange::new(&placement);
        let mut best_move = None;
        let mut move_count = 0;
        while let Some(scored) = picker.next(board, &exchange, || self.ordering_hints(ply)) {
            let futile = static_eval
                .is_some_and(|eval| self.prunes_capture(board, &exchange, &scored, eval, node));
            let skips_evasions = in_check && self.skips_evasions(best_score);
            if futile || skips_evasions && scored.loses_material() {
                continue;
            }
            move_count += 1;
            let enough = move_count > QUIESCENCE_MAX_MOVES && scored.mv.promotion.is_none();
            if enough && !in_check && self.has(Part::QuiescenceMoveLimit) {
                break;
            }
            let child = board_after(board, scored.mv);
            self.make_move(board, ply, scored, &child);
            let window = Node { ply: ply + 1, alpha: -beta, beta: -node.alpha, ..node };
            let score = -self.quiescence(&child, window);
            self.unmake_move();
            if self.stopped {
                break;
            }
            if score > best_score {
                best_score = score;
                if score > node.alpha {
                    node.alpha = score;
                    best_move = Some(scored.mv);
                    self.update_pv(ply, scored.mv);
                }
                if score >= beta {
                    break;
                }
                if in_check && self.skips_evasions(best_score) {
                    picker.skip_quiets();
                }
            }
        }
        self.stack[ply].moves = picker.into_memory();
        if in_check && move_count == 0 {
            best_score = mated_in(ply);
        }
        if !self.stopped {
            if best_move.is_none() && static_eval == Some(best_score) {
                self.stand_pat_on(board);
            }
            let bound = Bound::of(best_score, first_alpha, beta);
            let entry = Entry {
                mv: best_move,
                score: best_score,
                static_eval: self.stack[ply].encoded,
                depth: 0,
                bound,
                was_pv: entry.is_some_and(|entry| entry.was_pv),
            };
            self.store_in_table(board, ply, entry);
        }
        best_score
    }

    /// Delta pruning and SEE pruning: whether a capture wins too little material to reach alpha, or
    /// too little by static exchange.
    fn prunes_capture(
        &self,
        board: &Board,
        exchange: &StaticExchange<'_>,
        scored: &ScoredMove,
        static_eval: Score,
        node: Node,
    ) -> bool {
        let mv = scored.mv;
        let won = piece_value(board.piece_on(mv.to)).max(1) * PAWN_VALUE;
        let out_of_reach = mv.promotion.is_none()
            && static_eval + won + self.shared.parameters.delta_margin <= node.alpha;
        let least_gain = self.shared.parameters.quiescence_least_gain;
        let too_little = || scored.loses_material() || exchange.see_of_move(mv) < least_gain;
        self.has(Part::DeltaPruning) && out_of_reach || self.has(Part::SeePruning) && too_little()
    }

    /// Late move pruning in check: once one move has avoided a certain loss, quiet and losing
    /// evasions are skipped.
    fn skips_evasions(&self, best_score: Score) -> bool {
        self.has(Part::LateMovePruning) && !is_loss(best_score)
    }
}
