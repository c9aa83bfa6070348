//! The move loop of a node: principal variation search with pruning, reductions and singular
//! extensions of moves.

use azimuth_chess::check_squares::CheckSquares;
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{board_after, has_non_pawn_material};
use azimuth_chess::see::StaticExchange;
use cozy_chess::{Board, Move};

use super::move_picker::{Kind, MovePicker, OrderingHints, ScoredMove};
use super::parameters::{
    FUTILITY_MAX_DEPTH, IIR_MIN_DEPTH, LMR_ONE_PLY, PAWN_VALUE, Part, SEE_PRUNING_MAX_DEPTH,
    SINGULAR_MIN_DEPTH,
};
use super::score::{DRAW, INFINITE, Score, is_decisive, is_loss, mated_in, to_value};
use super::search::{Node, NodeInfo};
use super::thread::{MAX_PLY, RootLine, SearchThread};
use crate::explanation::{SearchedMove, record_searched};
use crate::value::Bound;

/// The result of the moves searched so far.
pub struct BestSoFar {
    alpha: Score,
    pub score: Score,
    /// The last move that raised `alpha`.
    pub mv: Option<ScoredMove>,
    move_count: i32,
    quiet_count: i32,
}

/// A move that the picker returned, not yet pruned, reduced or searched.
struct CandidateMove {
    scored: ScoredMove,
    gives_check: bool,
    /// Its number among the moves searched at this node, starting at 1.
    move_count: i32,
    /// Quiet moves searched before it.
    quiet_count: i32,
}

impl CandidateMove {
    /// Neither a capture nor a promotion nor a check.
    fn is_dull(&self) -> bool {
        self.scored.is_quiet && !self.gives_check
    }
}

/// Maximum number of failed moves recorded for the histories.
const MAX_FAILED_MOVES: usize = 32;

impl SearchThread<'_> {
    /// Searches the moves of a node and returns its score.
    pub fn search_moves(&mut self, board: &Board, node: Node, info: &NodeInfo) -> Score {
        let first_move = self.first_move(node.ply, info.entry);
        let here = &mut self.stack[node.ply];
        let mut picker = MovePicker::new(Kind::Any, first_move, &mut here.moves);
        let mut failed = std::mem::take(&mut here.failed);
        failed.clear();
        let score = self.search_in_order(board, node, info, &mut picker, &mut failed);
        self.stack[node.ply].moves = picker.into_memory();
        self.stack[node.ply].failed = failed;
        score
    }

    pub fn ordering_hints(&self, ply: usize) -> OrderingHints<'_> {
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
            if prunable && candidate.is_dull() && self.late_move_pruning(here, info, &candidate) {
                picker.retain_quiets(|mv| check_squares.gives_check(board, mv));
                continue;
            }
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
            self.best = Some(RootLine { score, bound, pv: self.stack[0].pv.clone() });
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

/// Pruning of moves near the leaves: late move pruning, futility pruning, history pruning and SEE
/// pruning.
impl SearchThread<'_> {
    /// Whether futility, history or SEE pruning skips a move.
    fn prunes_move(
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
        let prunes_quiet = || {
            self.futility_pruning(node, info, reduced_depth)
                || self.history_pruning(node, candidate)
        };
        let is_futile_capture = || {
            !candidate.scored.is_quiet
                && !candidate.gives_check
                && self.capture_futility_pruning(node, info, candidate, exchange, reduced_depth)
        };
        candidate.is_dull() && prunes_quiet()
            || is_futile_capture()
            || self.see_pruning(node, candidate, exchange, reduced_depth)
    }

    /// Enough quiet moves have been searched; then this is true of all later ones.
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

/// Reductions: unpromising nodes and moves are first searched with reduced depth.
impl SearchThread<'_> {
    /// Internal iterative reduction: without a table move, a search of reduced depth finds one for
    /// the next visit.
    pub fn internal_iterative_reduction(&self, node: Node, info: &NodeInfo) -> i32 {
        let no_table_move = info.entry.is_none_or(|entry| entry.mv.is_none());
        let reduces = self.has(Part::InternalIterativeReductions)
            && no_table_move
            && node.depth >= IIR_MIN_DEPTH
            && (node.is_pv() || node.cut_node);
        i32::from(reduces)
    }

    /// Change of depth, in plies, at a node whose move was reduced, now that its static evaluation
    /// is known.
    pub fn hindsight(&self, node: Node) -> i32 {
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
    fn late_move_reduction(&self, node: Node, info: &NodeInfo, candidate: &CandidateMove) -> i32 {
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

/// Singular extensions: a table move is searched deeper if all other moves are much worse.
impl SearchThread<'_> {
    /// Tests whether `mv` is a singular table move: all other moves, searched to half the depth,
    /// score clearly below the table's score.
    fn singularity(&mut self, board: &Board, node: Node, info: &NodeInfo, mv: Move) -> Singularity {
        let Node { ply, depth, beta, .. } = node;
        let worth_trying = self.has(Part::SingularExtensions)
            && ply > 0
            && ply < MAX_PLY / 2
            && depth >= SINGULAR_MIN_DEPTH
            && self.stack[ply].excluded_move.is_none();
        let Some(entry) = info.entry.filter(|entry| {
            worth_trying
                && entry.mv == Some(mv)
                && entry.depth >= depth - 3
                && entry.bound != Bound::Upper
                && !is_decisive(entry.score)
        }) else {
            return Singularity::Extension(0);
        };
        let singular_beta = entry.score - self.shared.parameters.singular_margin * depth / 16;
        self.stack[ply].excluded_move = Some(mv);
        let score = self.search(board, node.in_zero_window(singular_beta, (depth - 1) / 2));
        self.stack[ply].excluded_move = None;
        self.stack[ply].pv.clear();
        match score {
            _ if self.stopped => Singularity::Extension(0),
            _ if score < singular_beta => {
                let far = score < singular_beta - self.shared.parameters.singular_double_margin;
                Singularity::Extension(1 + i32::from(far && !node.is_pv()))
            }
            _ if singular_beta >= beta => Singularity::MultiCut(singular_beta),
            _ if entry.score >= beta => Singularity::Extension(-1),
            _ => Singularity::Extension(0),
        }
    }
}

/// The result of a search without the table move.
enum Singularity {
    /// Plies by which the table move is extended; may be negative.
    Extension(i32),
    /// Another move reaches beta, too, so the node is cut off with this score (multi-cut).
    MultiCut(Score),
}
