//! The legal moves of a position, the most promising first.

use cozy_chess::{Board, Move, Piece};

use super::history::{History, Moved};
use super::score::Score;
use crate::see::{StaticExchange, piece_value};

/// What a move is ordered by, from the first to the last: the move of the table, captures and promotions
/// that lose nothing on their square, the killers, quiet moves, captures that lose.
const FROM_TABLE: i32 = 1 << 30;
const GOOD_CAPTURE: i32 = 1 << 24;
const KILLER: i32 = 1 << 20;
const BAD_CAPTURE: i32 = -(1 << 24);

/// What a pawn's worth of a capture counts beside its history.
const VICTIM: i32 = 4096;

/// What a centipawn of the position that a move leads to counts beside its history.
const OWN_SCORE: i32 = 64;

/// A move that is not searched yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) mv: Move,
    /// Neither a capture nor a promotion.
    pub(super) quiet: bool,
    /// The encoder's score of the position that it leads to, for the side that moves, where asked for.
    pub(super) own: Option<Score>,
    order: i32,
}

/// What is known that orders moves.
pub(super) struct Hints<'a> {
    pub(super) from_table: Option<Move>,
    pub(super) killers: [Option<Move>; 2],
    pub(super) history: Option<&'a History>,
    pub(super) before: [Option<Moved>; 2],
}

/// Fills `moves` with the legal moves, or only with captures and queenings.
pub(super) fn generate(board: &Board, captures_only: bool, moves: &mut Vec<Choice>) {
    moves.clear();
    let theirs = board.colors(!board.side_to_move());
    let passed = board.en_passant();
    let pawns = board.pieces(Piece::Pawn);
    board.generate_moves(|piece_moves| {
        let pawn = pawns.has(piece_moves.from);
        for mv in piece_moves {
            let en_passant =
                || pawn && passed == Some(mv.to.file()) && mv.from.file() != mv.to.file();
            let quiet = mv.promotion.is_none() && !theirs.has(mv.to) && !en_passant();
            let small = mv.promotion.is_some_and(|piece| piece != Piece::Queen);
            if !captures_only || !quiet && !small {
                moves.push(Choice { mv, quiet, own: None, order: 0 });
            }
        }
        false
    });
}

/// Puts a number on every move, for [`next`].
pub(super) fn order(
    board: &Board,
    exchanges: &StaticExchange<'_>,
    moves: &mut [Choice],
    hints: &Hints<'_>,
) {
    for choice in moves {
        let mv = choice.mv;
        let own = choice.own.map_or(0, |own| own * OWN_SCORE);
        choice.order = if hints.from_table == Some(mv) {
            FROM_TABLE
        } else if !choice.quiet {
            let victim = piece_value(board.piece_on(mv.to)).max(1);
            let won = victim + piece_value(mv.promotion);
            let history = hints.history.map_or(0, |history| history.of_capture(board, mv));
            // Who captures something dearer loses nothing.
            let safe = mv.promotion.is_none() && victim >= piece_value(board.piece_on(mv.from));
            let loses = !safe && exchanges.see_of_move(mv) < 0;
            won * VICTIM + history + own + if loses { BAD_CAPTURE } else { GOOD_CAPTURE }
        } else if let Some(place) = hints.killers.iter().position(|killer| *killer == Some(mv)) {
            KILLER * 2 - place as i32
        } else {
            own + hints.history.map_or(0, |history| history.of_quiet(board, mv, &hints.before))
        };
    }
}

/// Brings the most promising of the moves from place `first` on there, and returns it.
pub(super) fn next(moves: &mut [Choice], first: usize) -> Option<Choice> {
    let best = (first..moves.len()).max_by_key(|&place| (moves[place].order, -(place as i32)))?;
    moves.swap(first, best);
    Some(moves[first])
}

impl Choice {
    /// Whether it is a capture or promotion that loses material on its square.
    pub(super) fn loses(&self) -> bool {
        self.order < BAD_CAPTURE / 2
    }
}
