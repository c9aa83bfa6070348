//! Attacked squares: where the pieces of one side can capture.

use cozy_chess::{
    BitBoard, Board, Color, File, Piece, get_bishop_moves, get_king_moves, get_knight_moves,
    get_rook_moves,
};

/// The squares that the pieces of `color` attack, including those of their own pieces.
///
/// ```
/// use azimuth_chess::attacked_squares::attacked_squares;
/// use cozy_chess::{Board, Color, Square};
///
/// let attacked = attacked_squares(&Board::default(), Color::White);
/// assert!(attacked.has(Square::F3) && attacked.has(Square::E1) && !attacked.has(Square::E4));
/// assert_eq!(attacked.len(), 22);
/// ```
pub fn attacked_squares(board: &Board, color: Color) -> BitBoard {
    let (occupied, own) = (board.occupied(), board.colors(color));
    let of = |piece| own & board.pieces(piece);
    let [towards_a, towards_h] =
        [File::A, File::H].map(|edge| (of(Piece::Pawn) & !edge.bitboard()).0);
    let mut attacked = get_king_moves(board.king(color));
    attacked |= BitBoard(match color {
        Color::White => towards_a << 7 | towards_h << 9,
        Color::Black => towards_a >> 9 | towards_h >> 7,
    });
    for square in of(Piece::Knight) {
        attacked |= get_knight_moves(square);
    }
    for square in of(Piece::Bishop) | of(Piece::Queen) {
        attacked |= get_bishop_moves(square, occupied);
    }
    for square in of(Piece::Rook) | of(Piece::Queen) {
        attacked |= get_rook_moves(square, occupied);
    }
    attacked
}

#[cfg(test)]
mod tests {
    use cozy_chess::{Square, get_pawn_attacks};

    use super::*;
    use crate::bench_positions::BENCH_POSITIONS;

    #[test]
    fn every_square_is_attacked_that_some_piece_attacks() {
        for fen in BENCH_POSITIONS {
            let board: Board = fen.parse().expect("a position");
            for color in Color::ALL {
                let is_attacked = |square: Square| {
                    let by = |piece, from: BitBoard| board.colored_pieces(color, piece) & from;
                    let occupied = board.occupied();
                    let diagonals = get_bishop_moves(square, occupied);
                    let lines = get_rook_moves(square, occupied);
                    let attackers = by(Piece::Pawn, get_pawn_attacks(square, !color))
                        | by(Piece::Knight, get_knight_moves(square))
                        | by(Piece::Bishop, diagonals)
                        | by(Piece::Rook, lines)
                        | by(Piece::Queen, diagonals | lines)
                        | by(Piece::King, get_king_moves(square));
                    !attackers.is_empty()
                };
                let expected: BitBoard =
                    Square::ALL.into_iter().filter(|&square| is_attacked(square)).collect();
                assert_eq!(attacked_squares(&board, color), expected, "{fen} {color}");
            }
        }
    }
}
