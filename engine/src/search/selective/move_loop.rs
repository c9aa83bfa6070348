//! The move loop, the moves of a node one after the other: principal variation search with late move
//! reductions, and what is learned from it.

use anyhow::Result;
use cozy_chess::{Board, Move};

use super::candidate::CandidateMove;
use super::history::PieceTo;
use super::move_picker::{self, OrderingHints, ScoredMove};
use super::node::{Node, NodeInfo};
use super::parameters::STATIC_ORDERING_MIN_DEPTH;
use super::parts::Part;
use super::score::{DRAW, INFINITE, Score, is_loss, mated_in, of_estimate, to_value};
use super::singular::Singularity;
use super::thread::{RootLine, SearchThread};
use super::transposition_table::{Bound, Entry};
use crate::placement::Placement;
use crate::position::{board_after, has_non_pawn_material};
use crate::search::explanation::{SearchedMove, record_searched};
use crate::see::StaticExchange;

/// Moves that are remembered as failed.
const MAX_FAILED_MOVES: usize = 32;

/// What the moves searched so far brought.
struct BestSoFar {
    alpha: Score,
    score: Score,
    /// The move that raised `alpha` last.
    mv: Option<ScoredMove>,
    move_count: i32,
    quiet_count: i32,
}

impl SearchThread<'_> {
    /// The score of a position by its moves.
    pub(super) fn search_moves(
        &mut self,
        board: &Board,
        node: Node,
        info: &NodeInfo,
    ) -> Result<Score> {
        let mut moves = std::mem::take(&mut self.stack[node.ply].moves);
        let mut failed = std::mem::take(&mut self.stack[node.ply].failed);
        failed.clear();
        let placement = Placement::of(board);
        let exchange = StaticExchange::new(&placement);
        let score = self.score_moves(board, node, info, &exchange, &mut moves).and_then(|()| {
            self.search_in_order(board, node, info, &exchange, &mut moves, &mut failed)
        });
        self.stack[node.ply].moves = moves;
        self.stack[node.ply].failed = failed;
        score
    }

    /// Generates the legal moves, and scores them for the move picker.
    fn score_moves(
        &mut self,
        board: &Board,
        node: Node,
        info: &NodeInfo,
        exchange: &StaticExchange<'_>,
        moves: &mut Vec<ScoredMove>,
    ) -> Result<()> {
        move_picker::generate(board, false, moves);
        if node.ply == 0 {
            moves.retain(|scored| self.root_moves.contains(&scored.mv));
        }
        if self.has(Part::StaticOrdering) && node.depth >= STATIC_ORDERING_MIN_DEPTH {
            self.evaluate_moves(board, moves)?;
        }
        move_picker::score(board, exchange, moves, &self.ordering_hints(node.ply, info.entry));
        Ok(())
    }

    pub(super) fn ordering_hints(&self, ply: usize, entry: Option<Entry>) -> OrderingHints<'_> {
        let history = self.has(Part::History);
        OrderingHints {
            table_move: entry.and_then(|entry| entry.mv),
            killers: if history { self.stack[ply].killers } else { [None; 2] },
            history: history.then_some(&self.data.history),
            previous_moves: self.previous_moves(ply),
        }
    }

    /// The two moves that led here.
    fn previous_moves(&self, ply: usize) -> [Option<PieceTo>; 2] {
        [1, 2].map(|back| ply.checked_sub(back).and_then(|ply| self.stack[ply].moved))
    }

    /// Has the encoder score the positions that all moves lead to, in one batch.
    fn evaluate_moves(&mut self, board: &Board, moves: &mut [ScoredMove]) -> Result<()> {
        let evaluator = &mut self.data.evaluator;
        let mut lookups = Vec::with_capacity(moves.len());
        for scored in &*moves {
            lookups.push(evaluator.look_up(&board_after(board, scored.mv))?);
        }
        let values = evaluator.finish()?;
        for (scored, lookup) in moves.iter_mut().zip(lookups) {
            scored.static_eval = Some(-of_estimate(lookup.value(&values)));
        }
        Ok(())
    }

    fn search_in_order(
        &mut self,
        board: &Board,
        node: Node,
        info: &NodeInfo,
        exchange: &StaticExchange<'_>,
        moves: &mut [ScoredMove],
        failed: &mut Vec<ScoredMove>,
    ) -> Result<Score> {
        let ply = node.ply;
        let excluded_move = self.stack[ply].excluded_move;
        let previous_moves = self.previous_moves(ply);
        let may_prune = ply > 0 && has_non_pawn_material(board);
        self.stack[ply + 1].killers = [None; 2];
        let mut best = BestSoFar {
            alpha: node.alpha,
            score: -INFINITE,
            mv: None,
            move_count: 0,
            quiet_count: 0,
        };
        for place in 0..moves.len() {
            let Some(scored) = move_picker::pick(moves, place) else { break };
            let mv = scored.mv;
            if excluded_move == Some(mv) {
                continue;
            }
            let candidate = self.candidate(board, scored, &previous_moves, &best);
            let here = Node { alpha: best.alpha, ..node };
            let prunable = may_prune && !is_loss(best.score);
            if prunable && self.prunes_move(here, info, &candidate, exchange) {
                continue;
            }
            let extension = match self.singularity(board, node, info, mv)? {
                Singularity::Extension(plies) => plies,
                Singularity::MultiCut(score) => return Ok(score),
            };
            best.move_count += 1;
            best.quiet_count += i32::from(scored.is_quiet);
            self.make_move(board, ply, mv, &candidate.child);
            let searched = self.search_move(here, info, &candidate, extension);
            self.unmake_move();
            let (score, depth) = searched?;
            if self.stopped {
                break;
            }
            let raises_alpha = score > best.alpha;
            best.score = best.score.max(score);
            if raises_alpha {
                (best.alpha, best.mv) = (score, Some(scored));
                self.update_pv(ply, mv);
            }
            if ply == 0 {
                self.record_root_move(mv, score, depth, raises_alpha, node.beta);
            }
            if score >= node.beta {
                break;
            }
            if failed.len() < MAX_FAILED_MOVES {
                failed.push(scored);
            }
        }
        if best.move_count == 0 {
            return Ok(match excluded_move {
                Some(_) => node.alpha,
                None if info.static_eval.is_none() => mated_in(ply),
                None => DRAW,
            });
        }
        if !self.stopped {
            self.learn(board, node, &best, failed);
        }
        Ok(best.score)
    }

    fn candidate(
        &self,
        board: &Board,
        scored: ScoredMove,
        previous_moves: &[Option<PieceTo>; 2],
        best: &BestSoFar,
    ) -> CandidateMove {
        let child = board_after(board, scored.mv);
        let history = match scored.is_quiet && self.has(Part::History) {
            true => self.data.history.of_quiet(board, scored.mv, previous_moves),
            false => 0,
        };
        CandidateMove {
            scored,
            gives_check: !child.checkers().is_empty(),
            child,
            history,
            move_count: best.move_count + 1,
            quiet_count: best.quiet_count,
        }
    }

    /// Remembers what became of a root move, and its line where it is the best so far.
    fn record_root_move(
        &mut self,
        mv: Move,
        score: Score,
        depth: i32,
        raises_alpha: bool,
        beta: Score,
    ) {
        let (value, exact) = (to_value(score), raises_alpha && score < beta);
        let found = SearchedMove { mv, value, exact, depth: depth as u32 + 1 };
        record_searched(&mut self.searched, found);
        if raises_alpha {
            self.best = Some(RootLine { score, pv: self.stack[0].pv.clone() });
        }
    }

    /// The score of a move, and the depth that it was last searched to: the first in the whole window, the
    /// others in a zero window, late ones less deep, until they turn out to be better.
    fn search_move(
        &mut self,
        node: Node,
        info: &NodeInfo,
        candidate: &CandidateMove,
        extension: i32,
    ) -> Result<(Score, i32)> {
        let Node { ply, depth, alpha, beta, cut_node } = node;
        let child = &candidate.child;
        let full_depth = depth - 1 + extension;
        let full_window = Node {
            ply: ply + 1,
            depth: full_depth,
            alpha: -beta,
            beta: -alpha,
            cut_node: !node.is_pv() && !cut_node,
        };
        if candidate.move_count == 1 {
            return Ok((-self.search(child, full_window)?, full_depth));
        }
        let zero_window = Node { alpha: -alpha - 1, cut_node: !cut_node, ..full_window };
        let reduction = self.late_move_reduction(node, info, candidate);
        let reduced_depth = (full_depth - reduction).clamp(1.min(full_depth), full_depth);
        let is_reduced = reduced_depth < full_depth;
        let reduced =
            Node { depth: reduced_depth, cut_node: is_reduced || !cut_node, ..zero_window };
        let mut searched_depth = reduced_depth;
        let mut score = -self.search(child, reduced)?;
        if score > alpha && is_reduced && !self.stopped {
            score = -self.search(child, zero_window)?;
            searched_depth = full_depth;
        }
        if score > alpha && node.is_pv() && !self.stopped {
            score = -self.search(child, full_window)?;
        }
        Ok((score, searched_depth))
    }

    /// Remembers what the moves brought.
    fn learn(&mut self, board: &Board, node: Node, best: &BestSoFar, failed: &[ScoredMove]) {
        let Node { ply, depth, alpha, beta, .. } = node;
        if let Some(good) = best.mv.filter(|_| best.score >= beta && self.has(Part::History)) {
            self.update_histories(board, node, good, failed);
        }
        if self.stack[ply].excluded_move.is_some() {
            return;
        }
        let bound = Bound::of(best.score, alpha, beta);
        let (mv, static_eval) = (best.mv.map(|best| best.mv), self.stack[ply].static_eval);
        let entry = Entry { mv, score: best.score, static_eval, depth, bound };
        self.store_in_table(board, ply, entry);
    }

    /// Remembers which move caused the cutoff, and which did not.
    fn update_histories(
        &mut self,
        board: &Board,
        node: Node,
        good: ScoredMove,
        failed: &[ScoredMove],
    ) {
        let previous_moves = self.previous_moves(node.ply);
        let bonus = self.shared.parameters.history_bonus(node.depth);
        let history = &mut self.data.history;
        if good.is_quiet {
            history.update_quiet(board, good.mv, &previous_moves, bonus);
            let killers = &mut self.stack[node.ply].killers;
            if killers[0] != Some(good.mv) {
                *killers = [Some(good.mv), killers[0]];
            }
        } else {
            history.update_capture(board, good.mv, bonus);
        }
        for bad in failed {
            match bad.is_quiet {
                true if good.is_quiet => {
                    history.update_quiet(board, bad.mv, &previous_moves, -bonus);
                }
                true => {}
                false => history.update_capture(board, bad.mv, -bonus),
            }
        }
    }
}
