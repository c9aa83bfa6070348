//! The en-passant square, only if a capture there is legal.

use cozy_chess::{Board, Move, Piece, Rank, Square, get_pawn_attacks};

/// The en-passant square, if a capture on it is legal (the rule of python-chess and lichess).
///
/// ```
/// use azimuth_chess::en_passant::legal_en_passant;
/// use cozy_chess::{Board, Square};
///
/// let nothing_captures = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
/// let captures = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3";
/// assert_eq!(legal_en_passant(&nothing_captures.parse::<Board>()?), None);
/// assert_eq!(legal_en_passant(&captures.parse::<Board>()?), Some(Square::F6));
/// # Ok::<(), cozy_chess::FenParseError>(())
/// ```
pub fn legal_en_passant(board: &Board) -> Option<Square> {
    let us = board.side_to_move();
    let to = Square::new(board.en_passant()?, Rank::Sixth.relative_to(us));
    let pawns = get_pawn_attacks(to, !us) & board.colored_pieces(us, Piece::Pawn);
    pawns.into_iter().any(|from| board.is_legal(Move { from, to, promotion: None })).then_some(to)
}
