//! ProbCut (Buro, "ProbCut: an effective selective extension of the alpha-beta algorithm"): if a
//! capture exceeds beta by a margin in a search of reduced depth, the full search would almost
//! certainly reach beta.

use azimuth_chess::placement::Placement;
use azimuth_chess::position::board_after;
use azimuth_chess::see::StaticExchange;
use cozy_chess::Board;

use super::move_picker::{Kind, MovePicker};
use super::node::{Node, NodeInfo};
use super::parameters::{PAWN_VALUE, PROBCUT_MIN_DEPTH, PROBCUT_REDUCTION};
use super::parts::Part;
use super::score::{Score, is_decisive};
use super::thread::SearchThread;
use super::transposition_table::Entry;
use crate::search::bound::Bound;

impl SearchThread<'_> {
    /// The score of a node in which a capture reaches beta plus a margin; `None` if there is no
    /// such capture.
    pub(super) fn probcut(&mut self, board: &Board, node: Node, info: &NodeInfo) -> Option<Score> {
        let Node { ply, depth, .. } = node;
        let beta = node.beta + self.shared.parameters.probcut_margin;
        let known_below = |entry: Entry| entry.depth >= depth - 3 && entry.score < beta;
        let worth_trying = self.has(Part::ProbCut)
            && depth >= PROBCUT_MIN_DEPTH
            && !is_decisive(beta)
            && !info.entry.is_some_and(known_below);
        let static_eval = info.static_eval.filter(|_| worth_trying)?;
        let table_move = info.entry.and_then(|entry| entry.mv);
        let mut picker = MovePicker::new(Kind::Captures, table_move, &mut self.stack[ply].moves);
        let placement = Placement::of(board);
        let exchange = StaticExchange::new(&placement);
        let mut found = None;
        while let Some(scored) = picker.next(board, &exchange, || self.ordering_hints(ply)) {
            let enough = static_eval + exchange.see_of_move(scored.mv) * PAWN_VALUE >= beta;
            if !enough {
                continue;
            }
            let child = board_after(board, scored.mv);
            self.make_move(board, ply, scored, &child);
            let window = Node {
                ply: ply + 1,
                depth: 0,
                alpha: -beta,
                beta: 1 - beta,
                cut_node: !node.cut_node,
            };
            let mut score = -self.quiescence(&child, window);
            if score >= beta {
                let reduced = Node { depth: depth - PROBCUT_REDUCTION, ..window };
                score = -self.search(&child, reduced);
            }
            self.unmake_move();
            if self.stopped {
                break;
            }
            if score >= beta {
                found = Some((scored.mv, score));
                break;
            }
        }
        self.stack[ply].moves = picker.into_memory();
        let (mv, score) = found?;
        let entry = Entry {
            mv: Some(mv),
            score,
            static_eval: self.stack[ply].encoded,
            depth: depth - PROBCUT_REDUCTION + 1,
            bound: Bound::Lower,
            was_pv: info.was_pv,
        };
        self.store_in_table(board, ply, entry);
        Some(if is_decisive(score) { score } else { score - (beta - node.beta) })
    }
}
