//! Leaves: captures and promotions until the position is quiet, so that the encoder's score can be
//! trusted.

use anyhow::Result;
use cozy_chess::Board;

use super::margins;
use super::moves::{self, Choice};
use super::node::Node;
use super::parts::Part;
use super::score::{DRAW, INFINITE, Score, is_lost, mated_in};
use super::table::{Bound, Known};
use super::thread::{MAX_PLY, Thread};
use crate::placement::Placement;
use crate::position::board_after;
use crate::see::{StaticExchange, piece_value};

impl Thread<'_> {
    /// The score of a position when only captures and promotions follow, any of which may be declined;
    /// in check, every move.
    pub(super) fn resolve(&mut self, board: &Board, mut node: Node) -> Result<Score> {
        let Node { ply, beta, .. } = node;
        self.frames[ply].line.clear();
        if self.visit(ply) {
            return Ok(DRAW);
        }
        if ply > 0
            && let Some(score) = self.exact(board, ply)
        {
            return Ok(score);
        }
        let known = self.look_up(board, ply);
        if let Some(known) = known
            && !node.is_pv()
            && node.is_settled_by(&known)
        {
            return Ok(known.score);
        }
        let own = self.score_position(board, ply, known)?;
        if ply >= MAX_PLY {
            return Ok(own.unwrap_or(DRAW));
        }
        let first_alpha = node.alpha;
        let mut best = match (own, known) {
            (None, _) => -INFINITE,
            (Some(own), Some(known)) if known.says_more_than(own) => known.score,
            (Some(own), _) => own,
        };
        if best >= beta || own.is_some() && !self.has(Part::Captures) {
            return Ok(best);
        }
        node.alpha = node.alpha.max(best);
        let mut choices = std::mem::take(&mut self.frames[ply].moves);
        moves::generate(board, own.is_some(), &mut choices);
        let placement = Placement::of(board);
        let exchanges = StaticExchange::new(&placement);
        moves::order(board, &exchanges, &mut choices, &self.hints(ply, known));
        if choices.is_empty() && own.is_none() {
            best = mated_in(ply);
        }
        let mut best_move = None;
        for place in 0..choices.len() {
            let Some(choice) = moves::next(&mut choices, place) else { break };
            let hopeless = own
                .is_some_and(|own| self.is_hopeless(board, &exchanges, &choice, own, node.alpha));
            // One way out of check will do, beside those that win something.
            let spare = own.is_none() && !is_lost(best) && (choice.quiet || choice.loses());
            if hopeless || spare && self.has(Part::Width) {
                continue;
            }
            let child = board_after(board, choice.mv);
            self.enter(board, ply, choice.mv, &child);
            let window = Node { ply: ply + 1, alpha: -beta, beta: -node.alpha, ..node };
            let score = self.resolve(&child, window).map(|score| -score);
            self.keys.pop();
            let score = score?;
            if self.stopped {
                break;
            }
            if score > best {
                best = score;
                if score > node.alpha {
                    node.alpha = score;
                    best_move = Some(choice.mv);
                    self.extend_line(ply, choice.mv);
                }
                if score >= beta {
                    break;
                }
            }
        }
        self.frames[ply].moves = choices;
        if !self.stopped {
            let bound = match best {
                _ if best >= beta => Bound::Lower,
                _ if best > first_alpha => Bound::Exact,
                _ => Bound::Upper,
            };
            self.keep(board, ply, Known { mv: best_move, score: best, own, depth: 0, bound });
        }
        Ok(best)
    }

    /// Whether a capture wins nothing on its square, which the encoder sees by itself, or too little to
    /// matter.
    fn is_hopeless(
        &self,
        board: &Board,
        exchanges: &StaticExchange<'_>,
        choice: &Choice,
        own: Score,
        alpha: Score,
    ) -> bool {
        if self.has(Part::Exchange) && (choice.loses() || exchanges.see_of_move(choice.mv) <= 0) {
            return true;
        }
        let won = piece_value(board.piece_on(choice.mv.to)).max(1) * margins::PAWN;
        let quiet = choice.mv.promotion.is_none();
        self.has(Part::Futility) && quiet && own + won + margins::CAPTURE <= alpha
    }
}
