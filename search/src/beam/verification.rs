//! Verification of the beam's scores: a child is scored by a search of a few plies instead of by its
//! embedding, so that the beam keeps no move that the reply refutes.

use anyhow::Result;
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{Position, board_after, repetition_key};
use azimuth_chess::see::{StaticExchange, piece_value};
use cozy_chess::{Board, Move};

use super::tree::Candidate;
use crate::explanation::VerifiedMove;
use crate::selective::{Ancestor, INFINITE, Score, ShallowSearch};
use crate::tablebase::Tablebases;
use crate::value::{self, Value};

/// A child and its board.
pub struct Child {
    pub board: Board,
    /// The move with its static score, for the child's side to move, or its exact result.
    pub candidate: Candidate,
}

/// A position whose children are scored.
pub struct Parent<'p> {
    pub board: &'p Board,
    /// Plies from the root.
    pub ply: u32,
    /// The keys of the positions before the children, as for [`value::terminal_value`].
    pub keys: Vec<u64>,
    /// The line to it, the nearest position first, as for [`ShallowSearch::enter`].
    pub line: Vec<Ancestor>,
}

/// The horizons of the searches in a beam's iterations, in plies from the root. Quiescence search
/// follows a search.
#[derive(Clone, Copy)]
pub enum Horizons {
    /// The same horizon in all iterations.
    Fixed(u32),
    /// `beyond` plies beyond the beam's last ply.
    Beyond {
        beyond: u32,
        /// Depth of the beam's last iteration, if known. Earlier iterations then use its horizon,
        /// so that nothing is searched twice. The first iteration does not: it is never
        /// interrupted, so its horizon is as near as possible.
        last_depth: Option<u32>,
    },
}

impl Horizons {
    /// The horizon in an iteration of `depth` plies.
    pub fn of_iteration(self, depth: u32) -> u32 {
        match self {
            Self::Fixed(horizon) => horizon,
            Self::Beyond { beyond, .. } if depth == 1 => beyond.saturating_add(1),
            Self::Beyond { beyond, last_depth } => {
                last_depth.unwrap_or(depth).saturating_add(beyond)
            }
        }
    }
}

/// Value of a pawn in centipawns, for the material lost after a capture. The order of the children
/// subtracts it from the capture's score.
const PAWN: Score = 100;

/// Maximum depth of a search in plies; a search is not interrupted. It is the depth at the root's
/// children in a beam of depth 6 with 4 plies beyond.
const MOST_PLIES: u32 = 9;

/// Reduction of the first search of a late child, in plies.
const LATE_REDUCTION: u32 = 2;

/// Scores children by searches.
///
/// All searches have the same horizon: the last ply of the beam and a few plies beyond it. So the
/// first moves, on which all others depend, get the deepest searches, of which there are few.
///
/// Only the best few children need values; the others need a bound. Children are tried in the order
/// of their static scores: the first few with a full window, each later one with a zero window at
/// the value of the worst child kept so far, and again with a full window only if it is better.
pub struct Verifier<'a> {
    pub search: ShallowSearch<'a>,
    horizons: Horizons,
    /// Horizon of all searches, in plies from the root.
    horizon: u32,
    /// Depth of the searches at the current parent, in plies.
    plies: u32,
}

impl<'a> Verifier<'a> {
    pub fn new(search: ShallowSearch<'a>, horizons: Horizons) -> Self {
        Self { search, horizons, horizon: 0, plies: 0 }
    }

    /// Starts an iteration of `depth` plies. Returns whether the horizon has moved.
    pub fn begin(&mut self, depth: u32) -> bool {
        let before = self.horizon;
        self.horizon = self.horizons.of_iteration(depth);
        self.horizon > before
    }

    /// The children by verified values, best first: the first `width` have values with their lines,
    /// the others bounds only. `None` if `stop` returns true.
    pub fn best_children(
        &mut self,
        parent: Parent<'_>,
        mut children: Vec<Child>,
        width: usize,
        mut stop: impl FnMut(&Self) -> bool,
    ) -> Option<Vec<Candidate>> {
        let board = parent.board;
        self.enter(parent);
        self.order(board, &mut children);
        let late_from = width.saturating_mul(2);
        let (mut kept, mut others) = (Vec::<(Score, Candidate)>::new(), Vec::new());
        for (place, child) in children.into_iter().enumerate() {
            if stop(self) {
                return None;
            }
            let worst = kept.last().map(|kept| kept.0).filter(|_| kept.len() >= width);
            let score = match worst {
                None => self.score(board, &child, (-INFINITE, INFINITE), 0),
                Some(worst) if self.exceeds(board, &child, worst, place >= late_from) => {
                    self.score(board, &child, (worst, INFINITE), 0)
                }
                Some(worst) => worst,
            };
            let mut candidate = child.candidate;
            if !candidate.exact {
                candidate.value = self.search.value_of(-score);
            }
            if worst.is_some_and(|worst| score <= worst) {
                others.push(candidate);
                continue;
            }
            if !candidate.exact {
                candidate.exact = candidate.value.is_decisive();
                candidate.tail = self.search.line().to_vec();
            }
            let place = kept.partition_point(|(known, _)| *known >= score);
            kept.insert(place, (score, candidate));
            if kept.len() > width {
                others.extend(kept.pop().map(|(_, candidate)| candidate));
            }
        }
        Some(kept.into_iter().map(|(_, candidate)| candidate).chain(others).collect())
    }

    /// The value of `parent` by its children's verified values, exact between `alpha` and `beta`,
    /// with its line if it is above `alpha`. `None` if `stop` returns true.
    pub fn best_value(
        &mut self,
        parent: Parent<'_>,
        mut children: Vec<Child>,
        width: usize,
        (alpha, beta): (Value, Value),
        mut stop: impl FnMut(&Self) -> bool,
    ) -> Option<(Value, Vec<Move>)> {
        let board = parent.board;
        self.enter(parent);
        self.order(board, &mut children);
        let (mut low, high) = (self.search.score_of(alpha), self.search.score_of(beta));
        let (mut best, mut line) = (-INFINITE, Vec::new());
        for (place, child) in children.iter().enumerate() {
            if stop(self) {
                return None;
            }
            let must_be_scored = place == 0 || self.exceeds(board, child, low, place >= width);
            let score = if must_be_scored { self.score(board, child, (low, high), 0) } else { low };
            best = best.max(score);
            if score > low {
                low = score;
                line.clear();
                line.push(child.candidate.mv);
                if !child.candidate.exact {
                    line.extend_from_slice(self.search.line());
                }
            }
            if score >= high {
                break;
            }
        }
        Some((self.search.value_of(best), line))
    }

    /// Sets the search to the children of `parent`.
    fn enter(&mut self, parent: Parent<'_>) {
        let Parent { board, ply, keys, line } = parent;
        self.plies = self.horizon.saturating_sub(ply + 1).min(MOST_PLIES);
        self.search.enter(board, ply, keys, &line);
    }

    /// Sorts the children: the table move first, then by static score less the material lost on a
    /// capture's square after it.
    fn order(&self, board: &Board, children: &mut [Child]) {
        let table_move = self.search.table_move(board);
        let placement = Placement::of(board);
        let exchange = StaticExchange::new(&placement);
        // Castling is encoded as the king's move to its own rook's square.
        let captured = |mv: Move| match board.color_on(mv.to) {
            Some(color) if color == board.side_to_move() => None,
            _ => board.piece_on(mv.to),
        };
        children.sort_by_cached_key(|Child { candidate, .. }| {
            let won = piece_value(captured(candidate.mv));
            let lost_behind = (exchange.see_of_move(candidate.mv) - won).min(0);
            let score = PAWN * lost_behind - self.search.score_of(candidate.value);
            (Some(candidate.mv) != table_move, -score)
        });
    }

    /// Whether a child's score exceeds `threshold` for the side that moves.
    fn exceeds(&mut self, board: &Board, child: &Child, threshold: Score, is_late: bool) -> bool {
        let window = (threshold, threshold + 1);
        let reduces = is_late && self.search.reduces_late_moves();
        let reduction = if reduces { LATE_REDUCTION } else { 0 };
        self.score(board, child, window, reduction) > threshold
            && (reduction == 0 || self.score(board, child, window, 0) > threshold)
    }

    /// The score of a child for the side that moves: exact between `alpha` and `beta`, a bound
    /// outside.
    fn score(
        &mut self,
        board: &Board,
        Child { board: after, candidate }: &Child,
        (alpha, beta): (Score, Score),
        reduction: u32,
    ) -> Score {
        if candidate.exact {
            return -self.search.score_of(candidate.value);
        }
        let plies = self.plies.saturating_sub(reduction);
        -self.search.score(board, candidate.mv, after, (-beta, -alpha), plies)
    }
}

/// The verified values of legal moves of `position`, `ply` plies from the root, in the order of
/// `moves`, by searches to `horizon` plies from the root: exact values, to explain which moves the
/// beam kept.
pub fn verified_moves(
    mut search: ShallowSearch<'_>,
    tablebases: Option<&Tablebases>,
    position: &Position,
    (ply, horizon): (u32, u32),
    moves: &[Move],
) -> Result<Vec<VerifiedMove>> {
    let board = position.board();
    let keys = [position.history(), &[repetition_key(board)]].concat();
    search.enter(board, ply, keys.clone(), &[]);
    let mut verified = Vec::with_capacity(moves.len());
    for &mv in moves {
        let child = board_after(board, mv);
        let exact = value::terminal_value(&child, ply + 1, &keys)
            .or_else(|| tablebases?.value(&child, ply + 1));
        verified.push(match exact {
            Some(value) => VerifiedMove { value: -value, plies: 0, line: Vec::new() },
            None => {
                let plies = horizon.saturating_sub(ply + 1).min(MOST_PLIES);
                let score = search.score(board, mv, &child, (-INFINITE, INFINITE), plies);
                let mut end = child;
                search.line().iter().for_each(|&mv| end.play_unchecked(mv));
                search.lengthen_line(end, score);
                VerifiedMove { value: -search.value_of(score), plies, line: search.line().to_vec() }
            }
        });
    }
    search.take_error().map_or(Ok(verified), Err)
}
