//! The move loop of a node: principal variation search with late move reductions.

use azimuth_chess::check_squares::CheckSquares;
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{board_after, has_non_pawn_material};
use azimuth_chess::see::StaticExchange;
use cozy_chess::{Board, Move};

use super::candidate::CandidateMove;
use super::move_picker::{Kind, MovePicker, OrderingHints, ScoredMove};
use super::node::{Node, NodeInfo};
use super::parts::Part;
use super::score::{DRAW, INFINITE, Score, is_decisive, is_loss, mated_in, to_value};
use super::singular::Singularity;
use super::thread::{RootLine, SearchThread};
use crate::search::bound::Bound;
use crate::search::explanation::{SearchedMove, record_searched};

/// Maximum number of failed moves recorded for the histories.
const MAX_FAILED_MOVES: usize = 32;

/// The result of the moves searched so far.
pub(super) struct BestSoFar {
    alpha: Score,
    pub(super) score: Score,
    /// The last move that raised `alpha`.
    pub(super) mv: Option<ScoredMove>,
    move_count: i32,
    quiet_count: i32,
}

impl SearchThread<'_> {
    /// Searches the moves of a node and returns its score.
    pub(super) fn search_moves(&mut self, board: &Board, node: Node, info: &NodeInfo) -> Score {
        let table_move = info.entry.and_then(|entry| entry.mv);
        let here = &mut self.stack[node.ply];
        let mut picker = MovePicker::new(Kind::Any, table_move, &mut here.moves);
        let mut failed = std::mem::take(&mut here.failed);
        failed.clear();
        let score = self.search_in_order(board, node, info, &mut picker, &mut failed);
        self.stack[node.ply].moves = picker.into_memory();
        self.stack[node.ply].failed = failed;
        score
    }

    pub(super) fn ordering_hints(&self, ply: usize) -> OrderingHints<'_> {
        let history = self.has(Part::History);
        OrderingHints {
            killers: if history { self.stack[ply].killers } else { [None; 2] },
            history: history.then_some(&self.data.history),
            context: self.quiet_context(ply),
            parameters: &self.shared.parameters,
        }
    }

    fn search_in_order(
        &mut self,
        board: &Board,
        node: Node,
        info: &NodeInfo,
        picker: &mut MovePicker,
        failed: &mut Vec<ScoredMove>,
    ) -> Score {
        let ply = node.ply;
        let placement = Placement::of(board);
        let exchange = StaticExchange::new(&placement);
        let excluded_move = self.stack[ply].excluded_move;
        let check_squares = CheckSquares::new(board);
        let may_prune = ply > 0 && has_non_pawn_material(board);
        self.stack[ply + 1].killers = [None; 2];
        self.stack[ply + 2].cutoffs = 0;
        let mut best = BestSoFar {
            alpha: node.alpha,
            score: -INFINITE,
            mv: None,
            move_count: 0,
            quiet_count: 0,
        };
        while let Some(scored) = picker.next(board, &exchange, || self.ordering_hints(ply)) {
            let mv = scored.mv;
            let is_excluded_at_root = ply == 0 && !self.root_moves.contains(&mv);
            if excluded_move == Some(mv) || is_excluded_at_root {
                continue;
            }
            let gives_check = check_squares.gives_check(board, mv);
            let candidate = CandidateMove {
                scored,
                gives_check,
                move_count: best.move_count + 1,
                quiet_count: best.quiet_count,
            };
            let here = Node { alpha: best.alpha, ..node };
            let prunable = may_prune && !is_loss(best.score);
            if prunable && self.prunes_move(here, info, &candidate, &exchange) {
                continue;
            }
            let extension = match self.singularity(board, node, info, mv) {
                Singularity::Extension(plies) => plies,
                Singularity::MultiCut(score) => return score,
            };
            best.move_count += 1;
            best.quiet_count += i32::from(scored.is_quiet);
            if ply == 0 {
                self.begin_root_move(mv, best.move_count as usize);
            }
            let child = board_after(board, mv);
            let nodes_before = self.nodes();
            self.make_move(board, ply, scored, &child);
            let (score, depth) = self.search_move(&child, here, info, &candidate, extension);
            self.unmake_move();
            if self.stopped {
                break;
            }
            let bound = Bound::of(score, best.alpha, node.beta);
            best.score = best.score.max(score);
            if bound != Bound::Upper {
                (best.alpha, best.mv) = (score, Some(scored));
                self.update_pv(ply, mv);
            }
            if ply == 0 {
                self.count_root_nodes(mv, self.nodes() - nodes_before);
                self.record_root_move(mv, score, depth, bound);
            }
            if score >= node.beta {
                self.stack[ply].cutoffs += 1;
                break;
            }
            if failed.len() < MAX_FAILED_MOVES {
                failed.push(scored);
            }
        }
        if best.move_count == 0 {
            return match excluded_move {
                Some(_) => node.alpha,
                None if info.static_eval.is_none() => mated_in(ply),
                None => DRAW,
            };
        }
        let may_damp =
            best.score >= node.beta && !is_decisive(best.score) && !is_decisive(node.beta);
        if may_damp && self.has(Part::FailHighDamping) {
            best.score = (best.score * node.depth + node.beta) / (node.depth + 1);
        }
        if !self.stopped {
            self.learn(board, node, info, &best, failed);
        }
        best.score
    }

    /// Records the result of a root move, and its line if it is the best so far.
    fn record_root_move(&mut self, mv: Move, score: Score, depth: i32, bound: Bound) {
        let value = to_value(score);
        let found = SearchedMove { mv, value, bound, depth: depth as u32 + 1 };
        record_searched(&mut self.searched, found);
        if bound != Bound::Upper {
            self.best = Some(RootLine { score, pv: self.stack[0].pv.clone() });
        }
    }

    /// The score of a move, and the depth of its last search. The first move gets the full window,
    /// the others a zero window. Late moves are searched with reduced depth, and again if they
    /// raise alpha.
    fn search_move(
        &mut self,
        child: &Board,
        node: Node,
        info: &NodeInfo,
        candidate: &CandidateMove,
        extension: i32,
    ) -> (Score, i32) {
        let Node { ply, depth, alpha, beta, cut_node } = node;
        let full_depth = depth - 1 + extension;
        let full_window = Node {
            ply: ply + 1,
            depth: full_depth,
            alpha: -beta,
            beta: -alpha,
            cut_node: !node.is_pv() && !cut_node,
        };
        if candidate.move_count == 1 {
            return (-self.search(child, full_window), full_depth);
        }
        let zero_window = Node { alpha: -alpha - 1, cut_node: !cut_node, ..full_window };
        let reduction = self.late_move_reduction(node, info, candidate);
        let reduced_depth = (full_depth - reduction).clamp(1.min(full_depth), full_depth);
        let is_reduced = reduced_depth < full_depth;
        let reduced =
            Node { depth: reduced_depth, cut_node: is_reduced || !cut_node, ..zero_window };
        let mut searched_depth = reduced_depth;
        self.stack[ply].reduction = full_depth - reduced_depth;
        let mut score = -self.search(child, reduced);
        self.stack[ply].reduction = 0;
        if score > alpha && is_reduced && !self.stopped {
            let margin = self.shared.parameters.lmr_deeper_margin;
            searched_depth = full_depth + i32::from(score > alpha + margin);
            score = -self.search(child, Node { depth: searched_depth, ..zero_window });
        }
        if score > alpha && node.is_pv() && !self.stopped {
            score = -self.search(child, full_window);
        }
        (score, searched_depth)
    }
}
