//! A position of the tree: principal variation search, selective in what it looks at.

use anyhow::Result;
use cozy_chess::{Board, Move, Piece};

use super::history::Moved;
use super::margins;
use super::moves::{self, Choice, Hints};
use super::parts::Part;
use super::score::{DRAW, INFINITE, Score, is_certain, is_lost, mated_at, of_estimate, of_tablebase};
use super::table::{Bound, Known};
use super::thread::{Best, MAX_PLY, Thread};
use crate::encoder::sparse::features::Placement;
use crate::exchange::Exchanges;
use crate::inference::Lookup;
use crate::position::repetition_key;
use crate::search::rules;

/// From this half-move clock on scores of the table are not trusted: the 50-move rule is near.
const LATE: u8 = 90;

/// Moves that are remembered as failed.
const MOST_FAILED: usize = 32;

/// How a position is looked at.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// Plies from the root.
    pub(super) ply: usize,
    /// Plies to go.
    pub(super) depth: i32,
    /// Scores between these two are exact, others are bounds.
    pub(super) alpha: Score,
    pub(super) beta: Score,
    /// Whether the score is expected to reach `beta`.
    pub(super) cut: bool,
}

impl Node {
    /// Whether the window is more than a single step wide.
    pub(super) fn is_pv(&self) -> bool {
        self.beta - self.alpha > 1
    }

    /// The same position in a window of no width at `beta`.
    fn below(self, beta: Score, depth: i32) -> Self {
        Self { depth, alpha: beta - 1, beta, ..self }
    }

    /// Whether what is `known` is enough.
    pub(super) fn is_settled_by(&self, known: &Known) -> bool {
        match known.bound {
            Bound::Exact => true,
            Bound::Lower => known.score >= self.beta,
            Bound::Upper => known.score <= self.alpha,
        }
    }
}

/// What is known of a position before its moves are searched.
struct Outlook {
    known: Option<Known>,
    /// The position's own score; none in check.
    own: Option<Score>,
    /// Whether the side to move stands better than at its last move.
    improving: bool,
}

impl Thread<'_> {
    pub(super) fn search_root(
        &mut self,
        board: &Board,
        depth: i32,
        alpha: Score,
        beta: Score,
    ) -> Result<Score> {
        self.search(board, Node { ply: 0, depth, alpha, beta, cut: false })
    }

    fn search(&mut self, board: &Board, mut node: Node) -> Result<Score> {
        if node.depth <= 0 {
            return self.resolve(board, node);
        }
        let ply = node.ply;
        self.frames[ply].line.clear();
        if self.visit(ply) {
            return Ok(DRAW);
        }
        if ply > 0 {
            if let Some(score) = self.exact(board, ply) {
                return Ok(score);
            }
            // No line is worth more than the shortest mate.
            node.alpha = node.alpha.max(mated_at(ply));
            node.beta = node.beta.min(-mated_at(ply + 1));
            if node.alpha >= node.beta {
                return Ok(node.alpha);
            }
        }
        let excluded = self.frames[ply].excluded;
        let known = self.look_up(board, ply);
        if let Some(known) = known
            && excluded.is_none()
            && !node.is_pv()
            && known.depth >= node.depth
            && node.is_settled_by(&known)
            && board.halfmove_clock() < LATE
        {
            return Ok(known.score);
        }
        let own = match excluded {
            Some(_) => self.frames[ply].own,
            None => self.score_position(board, ply, known)?,
        };
        if ply >= MAX_PLY {
            return Ok(own.unwrap_or(DRAW));
        }
        let outlook = Outlook { known, own, improving: self.is_improving(ply) };
        if !node.is_pv()
            && excluded.is_none()
            && let Some(score) = self.prune(board, node, &outlook)?
        {
            return Ok(score);
        }
        // What is worth looking at is not known yet: a look less deep tells.
        let unknown = known.is_none_or(|known| known.mv.is_none());
        if unknown && node.depth >= margins::UNKNOWN_DEPTH && (node.is_pv() || node.cut) {
            node.depth -= 1;
        }
        self.try_moves(board, node, &outlook)
    }

    /// The score of a position where the game is over but for mate and stalemate, or that the tables know.
    pub(super) fn exact(&self, board: &Board, ply: usize) -> Option<Score> {
        if rules::is_drawn(board, ply as u32, &self.keys) {
            return Some(DRAW);
        }
        let value = self.shared.tables?.value(board, ply as u32)?;
        self.shared.tbhits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(of_tablebase(value, ply))
    }

    fn is_improving(&self, ply: usize) -> bool {
        let own = |back: usize| ply.checked_sub(back).and_then(|ply| self.frames[ply].own);
        own(0).zip(own(2).or_else(|| own(4))).is_some_and(|(now, before)| now > before)
    }

    /// Ends the search where the score is out of reach of the window, as far as can be seen without the
    /// moves.
    fn prune(&mut self, board: &Board, node: Node, outlook: &Outlook) -> Result<Option<Score>> {
        let Node { ply, depth, alpha, beta, .. } = node;
        let Some(own) = outlook.own.filter(|_| !is_certain(beta)) else { return Ok(None) };
        // A search says more than the position's own score, where it bounds it.
        let own = match outlook.known {
            Some(Known { score, bound: Bound::Lower, .. }) if !is_certain(score) => own.max(score),
            Some(Known { score, bound: Bound::Upper, .. }) if !is_certain(score) => own.min(score),
            _ => own,
        };
        if self.has(Part::Futility) {
            let plies = depth - i32::from(outlook.improving);
            if depth <= margins::GOOD_DEPTH && own - margins::GOOD * plies >= beta {
                return Ok(Some((own + beta) / 2));
            }
            if depth <= margins::BAD_DEPTH && own + margins::BAD * depth <= alpha {
                let score = self.resolve(board, node)?;
                if score <= alpha {
                    return Ok(Some(score));
                }
            }
        }
        let passed = self.frames[ply - 1].moved.is_none();
        let may_pass = self.has(Part::NullMove) && depth >= margins::NULL_DEPTH && !passed;
        if !may_pass || own < beta || !has_pieces(board) {
            return Ok(None);
        }
        let Some(child) = board.null_move() else { return Ok(None) };
        let ahead = ((own - beta) / margins::NULL_STEP).min(3);
        self.frames[ply].moved = None;
        self.keys.push(repetition_key(board));
        let after = Node {
            ply: ply + 1,
            depth: depth - 3 - depth / 3 - ahead,
            alpha: -beta,
            beta: 1 - beta,
            cut: !node.cut,
        };
        let score = -self.search(&child, after)?;
        self.keys.pop();
        let holds = score >= beta && !self.stopped;
        Ok(holds.then_some(if is_certain(score) { beta } else { score }))
    }

    fn try_moves(&mut self, board: &Board, node: Node, outlook: &Outlook) -> Result<Score> {
        let mut choices = std::mem::take(&mut self.frames[node.ply].moves);
        let mut failed = std::mem::take(&mut self.frames[node.ply].failed);
        failed.clear();
        let score = self.order_moves(board, node, outlook, &mut choices).and_then(|()| {
            self.try_in_order(board, node, outlook, &mut choices, &mut failed)
        });
        self.frames[node.ply].moves = choices;
        self.frames[node.ply].failed = failed;
        score
    }

    fn order_moves(
        &mut self,
        board: &Board,
        node: Node,
        outlook: &Outlook,
        choices: &mut Vec<Choice>,
    ) -> Result<()> {
        moves::generate(board, false, choices);
        if node.ply == 0 {
            choices.retain(|choice| self.root_moves.contains(&choice.mv));
        }
        if self.has(Part::Order) && node.depth >= margins::ORDER_DEPTH {
            self.score_choices(board, choices)?;
        }
        moves::order(board, choices, &self.hints(node.ply, outlook.known));
        Ok(())
    }

    pub(super) fn hints(&self, ply: usize, known: Option<Known>) -> Hints<'_> {
        let history = self.has(Part::History);
        Hints {
            from_table: known.and_then(|known| known.mv),
            killers: if history { self.frames[ply].killers } else { [None; 2] },
            history: history.then_some(&self.mind.history),
            before: self.before(ply),
        }
    }

    /// The two moves that led here.
    fn before(&self, ply: usize) -> [Option<Moved>; 2] {
        [1, 2].map(|back| ply.checked_sub(back).and_then(|ply| self.frames[ply].moved))
    }

    /// Scores the positions that all moves lead to, in one batch.
    fn score_choices(&mut self, board: &Board, choices: &mut [Choice]) -> Result<()> {
        let evaluator = &mut self.mind.evaluator;
        let mut lookups = Vec::with_capacity(choices.len());
        for choice in &*choices {
            let mut child = board.clone();
            child.play_unchecked(choice.mv);
            lookups.push(evaluator.look_up(&child)?);
        }
        let values = evaluator.finish()?;
        for (choice, lookup) in choices.iter_mut().zip(lookups) {
            choice.own = Some(-of_estimate(match lookup {
                Lookup::Known(value) => value,
                Lookup::Queued(place) => values[place],
            }));
        }
        Ok(())
    }

    fn try_in_order(
        &mut self,
        board: &Board,
        node: Node,
        outlook: &Outlook,
        choices: &mut [Choice],
        failed: &mut Vec<Choice>,
    ) -> Result<Score> {
        let Node { ply, depth, mut alpha, beta, cut } = node;
        let excluded = self.frames[ply].excluded;
        let in_check = !board.checkers().is_empty();
        let before = self.before(ply);
        let placement = Placement::of(board);
        let exchanges = Exchanges::new(&placement);
        self.frames[ply + 1].killers = [None; 2];
        let (mut best, mut best_choice) = (-INFINITE, None);
        let (mut tried, mut quiets) = (0, 0);
        for place in 0..choices.len() {
            let Some(choice) = moves::next(choices, place) else { break };
            let mv = choice.mv;
            if excluded == Some(mv) {
                continue;
            }
            let history = match choice.quiet && self.has(Part::History) {
                true => self.mind.history.of_quiet(board, mv, &before),
                false => 0,
            };
            let mut reduction = margins::reduction(depth, tried + 1);
            if ply > 0 && !is_lost(best) && has_pieces(board) {
                let left = (depth - reduction / 1024).max(0);
                if choice.quiet && self.has(Part::Width) && quiets >= margins::width(depth, outlook.improving) {
                    continue;
                }
                if choice.quiet && self.has(Part::Futility) && !in_check && left <= margins::QUIET_DEPTH {
                    let seen = outlook.own.unwrap_or(0);
                    if seen + margins::QUIET_BASE + margins::QUIET * left <= alpha {
                        continue;
                    }
                }
                if self.has(Part::Exchange) && depth <= margins::EXCHANGE_DEPTH && (choice.quiet || choice.loses()) {
                    let allowed = if choice.quiet { left * left / 4 } else { depth };
                    if exchanges.gain_of_move(mv) < -allowed {
                        continue;
                    }
                }
            }
            let extension = match outlook.known {
                Some(known) if known.mv == Some(mv) => match self.singular(board, node, known)? {
                    Singular::No => 0,
                    Singular::Yes(plies) => plies,
                    Singular::Several(score) => return Ok(score),
                },
                _ => 0,
            };
            tried += 1;
            quiets += i32::from(choice.quiet);
            let mut child = board.clone();
            child.play_unchecked(mv);
            self.frames[ply].moved = Some(Moved::by(board, mv));
            self.keys.push(repetition_key(board));
            let full = depth - 1 + extension;
            let narrow = |depth| Node { ply: ply + 1, depth, alpha: -alpha - 1, beta: -alpha, cut: !cut };
            let mut score = -INFINITE;
            if tried > 1 {
                let mut less = full;
                if self.has(Part::Reductions) && depth >= 3 && (choice.quiet || choice.loses()) {
                    reduction += if cut { 1536 } else { 0 } - if node.is_pv() { 1024 } else { 0 };
                    reduction += if outlook.improving { 0 } else { 512 };
                    reduction -= if child.checkers().is_empty() { 0 } else { 1024 };
                    reduction -= if self.frames[ply].killers.contains(&Some(mv)) { 1024 } else { 0 };
                    reduction -= history / 8;
                    less = (full - reduction / 1024).clamp(1.min(full), full);
                }
                score = -self.search(&child, Node { cut: less < full || !cut, ..narrow(less) })?;
                if score > alpha && less < full && !self.stopped {
                    score = -self.search(&child, narrow(full))?;
                }
            }
            if tried == 1 || node.is_pv() && score > alpha && !self.stopped {
                let cut = !node.is_pv() && !cut;
                let wide = Node { ply: ply + 1, depth: full, alpha: -beta, beta: -alpha, cut };
                score = -self.search(&child, wide)?;
            }
            self.keys.pop();
            if self.stopped {
                return Ok(best);
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_choice = Some(choice);
                    self.extend_line(ply, mv);
                    if ply == 0 {
                        let line = self.frames[0].line.clone();
                        self.best = Some(Best { score, line });
                    }
                }
            }
            if score >= beta {
                break;
            }
            if failed.len() < MOST_FAILED {
                failed.push(choice);
            }
        }
        if tried == 0 {
            return Ok(match excluded {
                Some(_) => alpha,
                None if in_check => mated_at(ply),
                None => DRAW,
            });
        }
        if let Some(choice) = best_choice.filter(|_| best >= beta) {
            self.learn(board, node, choice, failed);
        }
        if excluded.is_none() {
            let bound = match best {
                _ if best >= beta => Bound::Lower,
                _ if best > node.alpha => Bound::Exact,
                _ => Bound::Upper,
            };
            self.learn_correction(board, node, best, bound, best_choice);
            let (mv, own) = (best_choice.map(|choice| choice.mv), self.frames[ply].uncorrected);
            self.keep(board, ply, Known { mv, score: best, own, depth, bound });
        }
        Ok(best)
    }

    /// Whether the known best move is the only good one: all others, searched half as deep, stay clearly
    /// below it.
    fn singular(&mut self, board: &Board, node: Node, known: Known) -> Result<Singular> {
        let Node { ply, depth, beta, .. } = node;
        let worth = self.has(Part::Singular)
            && ply > 0
            && ply < MAX_PLY / 2
            && depth >= margins::SINGULAR_DEPTH
            && self.frames[ply].excluded.is_none()
            && known.depth >= depth - 3
            && known.bound != Bound::Upper
            && !is_certain(known.score);
        let Some(mv) = known.mv.filter(|_| worth) else { return Ok(Singular::No) };
        let bar = known.score - 2 * depth;
        self.frames[ply].excluded = Some(mv);
        // The moves that this search orders must not stand in the way of those that are being tried.
        let score = self.search(board, node.below(bar, (depth - 1) / 2))?;
        self.frames[ply].excluded = None;
        Ok(match score {
            _ if self.stopped => Singular::No,
            _ if score < bar => Singular::Yes(1),
            _ if bar >= beta => Singular::Several(bar),
            _ if known.score >= beta => Singular::Yes(-1),
            _ => Singular::No,
        })
    }

    /// Puts a move before the best line of the next ply.
    pub(super) fn extend_line(&mut self, ply: usize, mv: Move) {
        let (here, below) = self.frames.split_at_mut(ply + 1);
        let line = &mut here[ply].line;
        line.clear();
        line.push(mv);
        line.extend_from_slice(&below[0].line);
    }

    /// Remembers which move was good enough, and which were not.
    fn learn(&mut self, board: &Board, node: Node, good: Choice, failed: &[Choice]) {
        if !self.has(Part::History) {
            return;
        }
        let before = self.before(node.ply);
        let bonus = (150 * node.depth - 50).min(1600);
        let history = &mut self.mind.history;
        if good.quiet {
            history.learn_quiet(board, good.mv, &before, bonus);
            let killers = &mut self.frames[node.ply].killers;
            if killers[0] != Some(good.mv) {
                *killers = [Some(good.mv), killers[0]];
            }
        } else {
            history.learn_capture(board, good.mv, bonus);
        }
        for choice in failed {
            match choice.quiet {
                true if good.quiet => history.learn_quiet(board, choice.mv, &before, -bonus),
                true => {}
                false => history.learn_capture(board, choice.mv, -bonus),
            }
        }
    }

    /// Remembers how far the encoder was off, where no capture explains it.
    fn learn_correction(
        &mut self,
        board: &Board,
        node: Node,
        score: Score,
        bound: Bound,
        best: Option<Choice>,
    ) {
        let Some(own) = self.frames[node.ply].uncorrected.filter(|_| self.has(Part::Correction)) else {
            return;
        };
        let says_more = match bound {
            Bound::Exact => true,
            Bound::Lower => score > own,
            Bound::Upper => score < own,
        };
        if says_more && !is_certain(score) && best.is_none_or(|best| best.quiet) {
            self.mind.corrections.learn(board, node.depth, score - own);
        }
    }
}

enum Singular {
    No,
    /// The move is searched so many plies deeper.
    Yes(i32),
    /// Others reach the window's upper end, too.
    Several(Score),
}

/// Whether the side to move has more than king and pawns: else passing may be better than any move.
fn has_pieces(board: &Board) -> bool {
    let ours = board.colors(board.side_to_move());
    let simple = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
    !(ours & !simple).is_empty()
}
