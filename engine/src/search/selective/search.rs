//! Alpha-beta at one node: draws, tables, static evaluation and pruning; then the moves are
//! searched.

use std::sync::atomic::Ordering::Relaxed;

use cozy_chess::Board;

use super::move_picker::is_quiet;
use super::node::{Node, NodeInfo};
use super::parameters::EXPECTED_CUTOFF_MAX_DEPTH;
use super::parts::Part;
use super::score::{DRAW, Score, mated_in, of_tablebase};
use super::stack::MAX_PLY;
use super::thread::SearchThread;
use crate::search::terminal;

/// From this halfmove clock on, table scores cause no cutoffs: the 50-move rule may change them.
pub(super) const LATE_HALFMOVE_CLOCK: u8 = 90;

impl SearchThread<'_> {
    /// The score of a position: exact inside the window of `node`, a bound outside.
    pub(super) fn search(&mut self, board: &Board, mut node: Node) -> Score {
        if node.depth <= 0 {
            return self.quiescence(board, node);
        }
        let ply = node.ply;
        self.stack[ply].pv.clear();
        if self.count_node(ply) {
            return DRAW;
        }
        if ply > 0 {
            if let Some(score) = self.draw_or_tablebase_score(board, ply, node.depth) {
                return score;
            }
            // Mate distance pruning: no line is worth more than the shortest mate.
            node.alpha = node.alpha.max(mated_in(ply));
            node.beta = node.beta.min(-mated_in(ply + 1));
            if node.alpha >= node.beta {
                return node.alpha;
            }
        }
        let excluded = self.stack[ply].excluded_move.is_some();
        if !excluded {
            self.prepare_evaluation(board, ply);
        }
        let entry = self.probe_table(board, ply);
        if let Some(entry) = entry
            && !excluded
            && !node.is_pv()
            && entry.depth >= node.depth
            && node.is_cut_by(&entry)
            && board.halfmove_clock() < LATE_HALFMOVE_CLOCK
            && (!self.has(Part::ExpectedCutoffs)
                || node.depth > EXPECTED_CUTOFF_MAX_DEPTH
                || node.cut_node == (entry.score >= node.beta))
        {
            self.learn_from_table(board, node, &entry);
            return entry.score;
        }
        self.prepare_context(board, ply);
        let static_eval = match excluded {
            true => self.stack[ply].static_eval,
            false => self.evaluate(board, ply, entry),
        };
        if ply >= MAX_PLY {
            return static_eval.unwrap_or(DRAW);
        }
        let was_pv = node.is_pv() || entry.is_some_and(|entry| entry.was_pv);
        let table_move = entry.and_then(|entry| entry.mv);
        let info = NodeInfo {
            entry,
            static_eval,
            was_pv,
            table_move_captures: table_move.is_some_and(|mv| !is_quiet(board, mv)),
            improving: self.is_improving(ply),
        };
        if !excluded && ply > 0 {
            self.learn_from_eval(board, ply);
            node.depth += self.hindsight(node);
        }
        if !node.is_pv()
            && !excluded
            && let Some(score) = self.prune_node(board, node, &info)
        {
            return score;
        }
        node.depth -= self.internal_iterative_reduction(node, &info);
        self.search_moves(board, node, &info)
    }

    /// The score if the position is drawn other than by stalemate, or is in the tablebases.
    pub(super) fn draw_or_tablebase_score(
        &self,
        board: &Board,
        ply: usize,
        depth: i32,
    ) -> Option<Score> {
        if terminal::is_drawn(board, ply as u32, &self.keys) {
            return Some(DRAW);
        }
        let value = self.shared.tablebases?.value_at_depth(board, ply as u32, depth)?;
        self.shared.tbhits.fetch_add(1, Relaxed);
        Some(of_tablebase(value, ply))
    }

    /// Whether the static evaluation is higher than two plies before or, if the side to move was in
    /// check then, four plies before.
    fn is_improving(&self, ply: usize) -> bool {
        let eval = |back: usize| ply.checked_sub(back).and_then(|ply| self.stack[ply].static_eval);
        eval(0).zip(eval(2).or_else(|| eval(4))).is_some_and(|(now, before)| now > before)
    }
}
