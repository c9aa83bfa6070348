//! Piece placement: the pieces on their squares and the side to move.

use cozy_chess::{
    BitBoard, Board, Color, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

/// The pieces of a position and its side to move: all that the features depend on. In bitboards a1
/// is the lowest bit and h8 the highest, as in cozy-chess.
///
/// ```
/// use azimuth_chess::placement::Placement;
/// use cozy_chess::{Board, Color, Piece, Square};
///
/// let placement = Placement::of(&Board::default());
/// assert_eq!(placement.king(Color::Black), Square::E8);
/// assert_eq!(placement.mirrored().king(Color::Black), Square::D8);
/// let pawns = placement.pieces[Piece::Pawn as usize];
/// assert_eq!((pawns & placement.colors[Color::White as usize]).0, 0xff00);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Pieces by colour.
    pub colors: [BitBoard; Color::NUM],
    /// Pieces by kind.
    pub pieces: [BitBoard; Piece::NUM],
    /// Side to move.
    pub side_to_move: Color,
}

impl Placement {
    /// The placement on `board`.
    #[inline]
    pub fn of(board: &Board) -> Self {
        Self {
            colors: [board.colors(Color::White), board.colors(Color::Black)],
            pieces: [
                board.pieces(Piece::Pawn),
                board.pieces(Piece::Knight),
                board.pieces(Piece::Bishop),
                board.pieces(Piece::Rook),
                board.pieces(Piece::Queen),
                board.pieces(Piece::King),
            ],
            side_to_move: board.side_to_move(),
        }
    }

    /// Square of the king of `color`; a1 if there is none.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        let kings = self.pieces[Piece::King as usize] & self.colors[color as usize];
        kings.next_square().unwrap_or(Square::A1)
    }

    /// The same position with its files mirrored: a and h are exchanged, b and g, and so on.
    #[inline]
    pub fn mirrored(self) -> Self {
        Self {
            colors: self.colors.map(BitBoard::flip_files),
            pieces: self.pieces.map(BitBoard::flip_files),
            side_to_move: self.side_to_move,
        }
    }
}

/// The squares that a `piece` of `color` on `square` attacks. Squares with pieces of the same side
/// count, too.
#[inline]
pub fn piece_attacks(piece: Piece, color: Color, square: Square, occupied: BitBoard) -> BitBoard {
    match piece {
        Piece::Pawn => get_pawn_attacks(square, color),
        Piece::Knight => get_knight_moves(square),
        Piece::Bishop => get_bishop_moves(square, occupied),
        Piece::Rook => get_rook_moves(square, occupied),
        Piece::Queen => get_bishop_moves(square, occupied) | get_rook_moves(square, occupied),
        Piece::King => get_king_moves(square),
    }
}
