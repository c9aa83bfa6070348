//! Alpha-beta at one node: draws, tables, static evaluation, and pruning of the whole node; then
//! its moves are searched (`move_loop`).

use std::sync::atomic::Ordering::Relaxed;

use azimuth_chess::placement::Placement;
use azimuth_chess::position::{board_after, has_non_pawn_material};
use azimuth_chess::see::StaticExchange;
use cozy_chess::Board;

use super::move_picker::{Kind, MovePicker, is_quiet};
use super::parameters::{
    EXPECTED_CUTOFF_MAX_DEPTH, NULL_MOVE_MIN_DEPTH, PAWN_VALUE, PROBCUT_MIN_DEPTH,
    PROBCUT_REDUCTION, Part, RAZORING_MAX_DEPTH, REVERSE_FUTILITY_MAX_DEPTH,
};
use super::score::{DRAW, Score, is_decisive, mated_in, of_value};
use super::thread::{MAX_PLY, SearchThread};
use super::transposition_table::Entry;
use crate::value::{self, Bound};

/// Ply, depth and window of the search of a position.
#[derive(Clone, Copy)]
pub struct Node {
    /// Plies from the root.
    pub ply: usize,
    /// Remaining plies.
    pub depth: i32,
    /// Scores between `alpha` and `beta` are exact; others are bounds.
    pub alpha: Score,
    pub beta: Score,
    /// Whether the score is expected to be at least `beta`.
    pub cut_node: bool,
}

impl Node {
    /// Whether the window is open, as it is on the principal variation, rather than a zero window.
    pub fn is_pv(&self) -> bool {
        self.beta - self.alpha > 1
    }

    /// The same position with a zero window just below `beta`.
    pub fn in_zero_window(self, beta: Score, depth: i32) -> Self {
        Self { depth, alpha: beta - 1, beta, ..self }
    }

    /// Whether the entry's score and bound settle the search in this window.
    pub fn is_cut_by(&self, entry: &Entry) -> bool {
        match entry.bound {
            Bound::Exact => true,
            Bound::Lower => entry.score >= self.beta,
            Bound::Upper => entry.score <= self.alpha,
        }
    }
}

/// The data of a node that is known before its moves are searched.
pub struct NodeInfo {
    /// The transposition table entry.
    pub entry: Option<Entry>,
    /// The static evaluation: the encoder's score with correction history; `None` in check.
    pub static_eval: Option<Score>,
    /// Whether the position is or was on a principal variation.
    pub was_pv: bool,
    /// Whether the table move is a capture or promotion.
    pub table_move_captures: bool,
    /// Whether the static evaluation is higher than at the side to move's last turn.
    pub improving: bool,
}

/// From this halfmove clock on, table scores cause no cutoffs: the 50-move rule may change them.
pub const LATE_HALFMOVE_CLOCK: u8 = 90;

impl SearchThread<'_> {
    /// The score of a position: exact inside the window of `node`, a bound outside.
    pub fn search(&mut self, board: &Board, mut node: Node) -> Score {
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
    pub fn draw_or_tablebase_score(&self, board: &Board, ply: usize, depth: i32) -> Option<Score> {
        if value::is_drawn(board, ply as u32, &self.keys) {
            return Some(DRAW);
        }
        let value = self.shared.tablebases?.value_at_depth(board, ply as u32, depth)?;
        self.shared.tbhits.fetch_add(1, Relaxed);
        Some(of_value(value, 0))
    }

    /// Whether the static evaluation is higher than two plies before or, if the side to move was in
    /// check then, four plies before.
    fn is_improving(&self, ply: usize) -> bool {
        let eval = |back: usize| ply.checked_sub(back).and_then(|ply| self.stack[ply].static_eval);
        eval(0).zip(eval(2).or_else(|| eval(4))).is_some_and(|(now, before)| now > before)
    }
}

/// Pruning of whole nodes before their moves are searched: reverse futility pruning, razoring, null
/// move pruning and ProbCut.
impl SearchThread<'_> {
    /// A score for the node if its true score is very probably outside the window; `None` if its
    /// moves have to be searched.
    fn prune_node(&mut self, board: &Board, node: Node, info: &NodeInfo) -> Option<Score> {
        let static_eval = info.static_eval.filter(|_| !is_decisive(node.beta))?;
        let eval = bounded_eval(static_eval, info.entry);
        self.reverse_futility_pruning(node, eval, info.improving)
            .or_else(|| self.razoring(board, node, eval))
            .or_else(|| self.null_move_pruning(board, node, eval))
            .or_else(|| self.probcut(board, node, info))
    }

    /// The static evaluation is so far above beta that the score is unlikely to drop below beta.
    fn reverse_futility_pruning(&self, node: Node, eval: Score, improving: bool) -> Option<Score> {
        let Node { depth, beta, .. } = node;
        let margin = self.shared.parameters.reverse_futility_margin;
        let margin = margin * (depth - i32::from(improving));
        let prunes = self.has(Part::ReverseFutilityPruning)
            && depth <= REVERSE_FUTILITY_MAX_DEPTH
            && eval - margin >= beta;
        prunes.then_some((eval + beta) / 2)
    }

    /// The static evaluation is so far below alpha that only a capture can raise it above alpha:
    /// quiescence search decides.
    fn razoring(&mut self, board: &Board, node: Node, eval: Score) -> Option<Score> {
        let Node { depth, alpha, .. } = node;
        let margin = self.shared.parameters.razoring_margin * depth;
        let far_below = depth <= RAZORING_MAX_DEPTH && eval + margin <= alpha;
        if !far_below || !self.has(Part::Razoring) {
            return None;
        }
        let score = self.quiescence(board, node);
        (score <= alpha).then_some(score)
    }

    /// A search of reduced depth reaches beta although the side to move passes.
    fn null_move_pruning(&mut self, board: &Board, node: Node, eval: Score) -> Option<Score> {
        let Node { ply, depth, beta, cut_node, .. } = node;
        let after_null_move = self.stack[ply - 1].moved.is_none();
        let worth_trying = self.has(Part::NullMovePruning)
            && depth >= NULL_MOVE_MIN_DEPTH
            && !after_null_move
            && eval >= beta
            // With pawns alone, zugzwang is common: passing may be better than any move.
            && has_non_pawn_material(board);
        let child = worth_trying.then(|| board.null_move()).flatten()?;
        let by_eval = (eval - beta) / self.shared.parameters.null_move_eval_divisor;
        let reduction = self.shared.parameters.null_move_base + depth / 3 + by_eval.min(3);
        let reduced = Node {
            ply: ply + 1,
            depth: depth - reduction,
            alpha: -beta,
            beta: 1 - beta,
            cut_node: !cut_node,
        };
        self.make_null_move(board, ply);
        let score = -self.search(&child, reduced);
        self.unmake_move();
        let holds = score >= beta && !self.stopped;
        holds.then_some(if is_decisive(score) { beta } else { score })
    }
}

/// The static evaluation, replaced by the table's score if that is a tighter bound.
fn bounded_eval(static_eval: Score, entry: Option<Entry>) -> Score {
    match entry {
        Some(Entry { score, .. }) if is_decisive(score) => static_eval,
        Some(Entry { score, bound: Bound::Lower, .. }) => static_eval.max(score),
        Some(Entry { score, bound: Bound::Upper, .. }) => static_eval.min(score),
        _ => static_eval,
    }
}

/// ProbCut (Buro, "ProbCut: an effective selective extension of the alpha-beta algorithm"): if a
/// capture exceeds beta by a margin in a search of reduced depth, the full search would almost
/// certainly reach beta.
impl SearchThread<'_> {
    /// The score of a node in which a capture reaches beta plus a margin; `None` if there is no
    /// such capture.
    fn probcut(&mut self, board: &Board, node: Node, info: &NodeInfo) -> Option<Score> {
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
