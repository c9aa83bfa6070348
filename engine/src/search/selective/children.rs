//! The moves of a position, one after the other: which are dropped, how deep the others are searched, and
//! what is learned from them.

use anyhow::Result;
use cozy_chess::{Board, Move};

use super::history::Moved;
use super::margins;
use super::moves::{self, Choice, Hints};
use super::node::{Node, Outlook};
use super::parts::Part;
use super::score::{DRAW, INFINITE, Score, is_certain, is_lost, mated_in, of_estimate, to_value};
use super::table::{Bound, Known};
use super::thread::{Best, MAX_PLY, Thread};
use crate::placement::Placement;
use crate::position::{board_after, has_non_pawn_material};
use crate::search::explanation::{SearchedMove, record_searched};
use crate::see::StaticExchange;

/// Moves that are remembered as failed.
const MOST_FAILED: usize = 32;

/// A move about to be searched.
struct Prospect {
    choice: Choice,
    child: Board,
    checks: bool,
    /// How good the move was elsewhere, where it is quiet.
    history: i32,
    /// Place among the moves that are searched, from 1 on.
    place: i32,
    /// Quiet moves searched before it.
    quiets: i32,
}

/// What the moves so far brought.
struct Tally {
    alpha: Score,
    best: Score,
    /// The move that raised `alpha` last.
    choice: Option<Choice>,
    tried: i32,
    quiets: i32,
}

enum Singular {
    No,
    /// The move is searched so many plies deeper.
    Yes(i32),
    /// Others reach the window's upper end, too.
    Several(Score),
}

impl Thread<'_> {
    /// The score of a position by its moves.
    pub(super) fn try_moves(
        &mut self,
        board: &Board,
        node: Node,
        outlook: &Outlook,
    ) -> Result<Score> {
        let mut choices = std::mem::take(&mut self.frames[node.ply].moves);
        let mut failed = std::mem::take(&mut self.frames[node.ply].failed);
        failed.clear();
        let placement = Placement::of(board);
        let exchanges = StaticExchange::new(&placement);
        let score =
            self.order_moves(board, node, outlook, &exchanges, &mut choices).and_then(|()| {
                self.try_in_order(board, node, outlook, &exchanges, &mut choices, &mut failed)
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
        exchanges: &StaticExchange<'_>,
        choices: &mut Vec<Choice>,
    ) -> Result<()> {
        moves::generate(board, false, choices);
        if node.ply == 0 {
            choices.retain(|choice| self.root_moves.contains(&choice.mv));
        }
        if self.has(Part::Order) && node.depth >= margins::ORDER_DEPTH {
            self.score_choices(board, choices)?;
        }
        moves::order(board, exchanges, choices, &self.hints(node.ply, outlook.known));
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
            lookups.push(evaluator.look_up(&board_after(board, choice.mv))?);
        }
        let values = evaluator.finish()?;
        for (choice, lookup) in choices.iter_mut().zip(lookups) {
            choice.own = Some(-of_estimate(lookup.value(&values)));
        }
        Ok(())
    }

    fn try_in_order(
        &mut self,
        board: &Board,
        node: Node,
        outlook: &Outlook,
        exchanges: &StaticExchange<'_>,
        choices: &mut [Choice],
        failed: &mut Vec<Choice>,
    ) -> Result<Score> {
        let ply = node.ply;
        let excluded = self.frames[ply].excluded;
        let before = self.before(ply);
        let may_drop = ply > 0 && has_non_pawn_material(board);
        self.frames[ply + 1].killers = [None; 2];
        let mut tally =
            Tally { alpha: node.alpha, best: -INFINITE, choice: None, tried: 0, quiets: 0 };
        for place in 0..choices.len() {
            let Some(choice) = moves::next(choices, place) else { break };
            let mv = choice.mv;
            if excluded == Some(mv) {
                continue;
            }
            let learned = choice.quiet && self.has(Part::History);
            let child = board_after(board, mv);
            let prospect = Prospect {
                choice,
                checks: !child.checkers().is_empty(),
                child,
                history: if learned { self.mind.history.of_quiet(board, mv, &before) } else { 0 },
                place: tally.tried + 1,
                quiets: tally.quiets,
            };
            let droppable = may_drop && !is_lost(tally.best);
            if droppable && self.is_dropped(node, outlook, &prospect, tally.alpha, exchanges) {
                continue;
            }
            let extension = match outlook.known {
                Some(known) if known.mv == Some(mv) => match self.singular(board, node, known)? {
                    Singular::No => 0,
                    Singular::Yes(plies) => plies,
                    Singular::Several(score) => return Ok(score),
                },
                _ => 0,
            };
            tally.tried += 1;
            tally.quiets += i32::from(choice.quiet);
            self.enter(board, ply, mv, &prospect.child);
            let here = Node { alpha: tally.alpha, ..node };
            let searched = self.search_move(here, outlook, &prospect, extension);
            self.keys.pop();
            let (score, depth) = searched?;
            if self.stopped {
                break;
            }
            if ply == 0 {
                let exact = tally.alpha < score && score < node.beta;
                let value = to_value(score);
                record_searched(
                    &mut self.searched,
                    SearchedMove { mv, value, exact, depth: depth as u32 + 1 },
                );
            }
            tally.best = tally.best.max(score);
            if score > tally.alpha {
                (tally.alpha, tally.choice) = (score, Some(choice));
                self.extend_line(ply, mv);
                if ply == 0 {
                    self.best = Some(Best { score, line: self.frames[0].line.clone() });
                }
            }
            if score >= node.beta {
                break;
            }
            if failed.len() < MOST_FAILED {
                failed.push(choice);
            }
        }
        if tally.tried == 0 {
            return Ok(match excluded {
                Some(_) => node.alpha,
                None if outlook.own.is_none() => mated_in(ply),
                None => DRAW,
            });
        }
        if !self.stopped {
            self.learn(board, node, &tally, failed);
        }
        Ok(tally.best)
    }

    /// Whether a move near the leaves seems to lead too far below the window, or comes too late.
    fn is_dropped(
        &self,
        node: Node,
        outlook: &Outlook,
        prospect: &Prospect,
        alpha: Score,
        exchanges: &StaticExchange<'_>,
    ) -> bool {
        let Prospect { choice, checks, place, quiets, .. } = prospect;
        let left = (node.depth - margins::reduction(node.depth, *place) / margins::PLY).max(0);
        if choice.quiet && !checks {
            let late = *quiets >= margins::width(node.depth, outlook.improving);
            // In check there is no score of its own to go by.
            let far = outlook.own.is_some_and(|own| {
                left <= margins::QUIET_DEPTH
                    && own + margins::QUIET_BASE + margins::QUIET * left <= alpha
            });
            if late && self.has(Part::Width) || far && self.has(Part::Futility) {
                return true;
            }
        }
        let shallow = node.depth <= margins::EXCHANGE_DEPTH && (choice.quiet || choice.loses());
        let allowed = if choice.quiet { left * left / 4 } else { node.depth };
        shallow && self.has(Part::Exchange) && exchanges.see_of_move(choice.mv) < -allowed
    }

    /// The score of a move, and the depth that it was last searched to: the first in the whole window, the
    /// others in one of no width, late ones less deep, until they turn out to be better.
    fn search_move(
        &mut self,
        node: Node,
        outlook: &Outlook,
        prospect: &Prospect,
        extension: i32,
    ) -> Result<(Score, i32)> {
        let Node { ply, depth, alpha, beta, cut } = node;
        let child = &prospect.child;
        let full = depth - 1 + extension;
        let wide = Node {
            ply: ply + 1,
            depth: full,
            alpha: -beta,
            beta: -alpha,
            cut: !node.is_pv() && !cut,
        };
        if prospect.place == 1 {
            return Ok((-self.search(child, wide)?, full));
        }
        let narrow = Node { alpha: -alpha - 1, cut: !cut, ..wide };
        let less = (full - self.reduction(node, outlook, prospect)).clamp(1.min(full), full);
        let mut searched = less;
        let mut score =
            -self.search(child, Node { depth: less, cut: less < full || !cut, ..narrow })?;
        if score > alpha && less < full && !self.stopped {
            score = -self.search(child, narrow)?;
            searched = full;
        }
        if score > alpha && node.is_pv() && !self.stopped {
            score = -self.search(child, wide)?;
        }
        Ok((score, searched))
    }

    /// Plies by which a late move is searched less deep at first.
    fn reduction(&self, node: Node, outlook: &Outlook, prospect: &Prospect) -> i32 {
        let Prospect { choice, checks, history, place, .. } = prospect;
        if !self.has(Part::Reductions) || node.depth < 3 || !choice.quiet && !choice.loses() {
            return 0;
        }
        let killer = self.frames[node.ply].killers.contains(&Some(choice.mv));
        let plies = margins::reduction(node.depth, *place)
            + i32::from(node.cut) * 3 * margins::PLY / 2
            + i32::from(!outlook.improving) * margins::PLY / 2
            - i32::from(node.is_pv()) * margins::PLY
            - i32::from(*checks) * margins::PLY
            - i32::from(killer) * margins::PLY
            - history * margins::PLY / margins::HISTORY_PLY;
        plies / margins::PLY
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

    /// Remembers what the moves brought.
    fn learn(&mut self, board: &Board, node: Node, tally: &Tally, failed: &[Choice]) {
        let Node { ply, depth, alpha, beta, .. } = node;
        if let Some(good) = tally.choice.filter(|_| tally.best >= beta && self.has(Part::History)) {
            self.learn_order(board, node, good, failed);
        }
        if self.frames[ply].excluded.is_some() {
            return;
        }
        let bound = match tally.best {
            score if score >= beta => Bound::Lower,
            score if score > alpha => Bound::Exact,
            _ => Bound::Upper,
        };
        let (mv, own) = (tally.choice.map(|choice| choice.mv), self.frames[ply].own);
        self.keep(board, ply, Known { mv, score: tally.best, own, depth, bound });
    }

    /// Remembers which move was good enough, and which were not.
    fn learn_order(&mut self, board: &Board, node: Node, good: Choice, failed: &[Choice]) {
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
}
