//! The move picker: the legal moves of a position, the most promising first.

use cozy_chess::{Board, Move, Piece};

use super::history::{History, QuietContext, QuietMove};
use super::parameters::Parameters;
use crate::see::{StaticExchange, piece_value};

/// What a move is picked by, from the first to the last: the move of the transposition table, captures and
/// promotions that lose nothing on their square, the killers, quiet moves, captures that lose.
const TABLE_MOVE: i32 = 1 << 30;
const GOOD_CAPTURE: i32 = 1 << 24;
const KILLER: i32 = 1 << 20;
const BAD_CAPTURE: i32 = -(1 << 24);

/// What a pawn's worth of a victim counts beside a capture's history.
const VICTIM_WEIGHT: i32 = 4096;

/// A move that is not searched yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoredMove {
    pub(super) mv: Move,
    /// Neither a capture nor a promotion.
    pub(super) is_quiet: bool,
    /// What it is picked by, the highest first.
    score: i32,
}

impl ScoredMove {
    /// Whether it is a capture or promotion that loses material on its square.
    pub(super) fn loses_material(&self) -> bool {
        self.score < BAD_CAPTURE / 2
    }
}

/// What is known that orders moves.
pub(super) struct OrderingHints<'a> {
    pub(super) table_move: Option<Move>,
    pub(super) killers: [Option<Move>; 2],
    pub(super) history: Option<&'a History>,
    pub(super) context: QuietContext,
    pub(super) parameters: &'a Parameters,
}

/// Fills `moves` with the legal moves, or only with captures and queenings.
pub(super) fn generate(board: &Board, captures_only: bool, moves: &mut Vec<ScoredMove>) {
    moves.clear();
    board.generate_moves(|piece_moves| {
        for mv in piece_moves {
            let is_quiet = is_quiet(board, mv);
            let underpromotes = mv.promotion.is_some_and(|piece| piece != Piece::Queen);
            if !captures_only || !is_quiet && !underpromotes {
                moves.push(ScoredMove { mv, is_quiet, score: 0 });
            }
        }
        false
    });
}

/// Whether a legal move is neither a capture nor a promotion.
pub(super) fn is_quiet(board: &Board, mv: Move) -> bool {
    let is_en_passant = mv.from.file() != mv.to.file() && board.pieces(Piece::Pawn).has(mv.from);
    let captures = board.colors(!board.side_to_move()).has(mv.to) || is_en_passant;
    mv.promotion.is_none() && !captures
}

/// Scores every move, for [`pick`].
pub(super) fn score(
    board: &Board,
    exchange: &StaticExchange<'_>,
    moves: &mut [ScoredMove],
    hints: &OrderingHints<'_>,
) {
    for scored in moves {
        let mv = scored.mv;
        scored.score = if hints.table_move == Some(mv) {
            TABLE_MOVE
        } else if !scored.is_quiet {
            let victim = piece_value(board.piece_on(mv.to)).max(1);
            let won = victim + piece_value(mv.promotion);
            let history = hints.history.map_or(0, |history| history.of_capture(board, mv));
            // Who captures something dearer loses nothing.
            let safe = mv.promotion.is_none() && victim >= piece_value(board.piece_on(mv.from));
            let loses = !safe && exchange.see_of_move(mv) < 0;
            won * VICTIM_WEIGHT + history + if loses { BAD_CAPTURE } else { GOOD_CAPTURE }
        } else if let Some(place) = hints.killers.iter().position(|killer| *killer == Some(mv)) {
            KILLER * 2 - place as i32
        } else {
            let quiet = |history: &History| {
                history.of_quiet(QuietMove::new(board, mv, hints.context), hints.parameters)
            };
            hints.history.map_or(0, quiet)
        };
    }
}

/// Brings the most promising of the moves from place `first` on there, and returns it.
pub(super) fn pick(moves: &mut [ScoredMove], first: usize) -> Option<ScoredMove> {
    let mut best = first;
    let mut score = moves.get(first)?.score;
    for (place, scored) in moves.iter().enumerate().skip(first + 1) {
        if scored.score > score {
            (best, score) = (place, scored.score);
        }
    }
    moves.swap(first, best);
    Some(moves[first])
}
