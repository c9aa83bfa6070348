//! Check squares: finds the moves that give check without making them.

use cozy_chess::{
    BitBoard, Board, Color, File, Move, Piece, Square, get_between_rays, get_bishop_moves,
    get_bishop_rays, get_king_moves, get_knight_moves, get_line_rays, get_pawn_attacks,
    get_rook_moves, get_rook_rays,
};

use crate::position::board_after;

/// The squares that the pieces of `color` attack, including those of their own pieces.
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

/// The squares from which a position's side to move gives check.
pub struct CheckSquares {
    king: Square,
    /// By kind of piece; empty for kings.
    squares: [BitBoard; Piece::NUM],
    /// Pieces that uncover a check by leaving the line to the king.
    discoverers: BitBoard,
    ours: BitBoard,
}

impl CheckSquares {
    /// Prepares a position.
    pub fn new(board: &Board) -> Self {
        let us = board.side_to_move();
        let (king, occupied, ours) = (board.king(!us), board.occupied(), board.colors(us));
        let [diagonals, lines] = [get_bishop_moves(king, occupied), get_rook_moves(king, occupied)];
        let sliders = |first, second| ours & (board.pieces(first) | board.pieces(second));
        let aligned = get_bishop_rays(king) & sliders(Piece::Bishop, Piece::Queen)
            | get_rook_rays(king) & sliders(Piece::Rook, Piece::Queen);
        let mut discoverers = BitBoard::EMPTY;
        for slider in aligned {
            let between = get_between_rays(king, slider) & occupied;
            if between.len() == 1 {
                discoverers |= between & ours;
            }
        }
        let squares = [
            get_pawn_attacks(king, !us),
            get_knight_moves(king),
            diagonals,
            lines,
            diagonals | lines,
            BitBoard::EMPTY,
        ];
        Self { king, squares, discoverers, ours }
    }

    /// Whether a legal move gives check. `board` is the board that [`Self::new`] prepared.
    #[inline]
    pub fn gives_check(&self, board: &Board, mv: Move) -> bool {
        let piece = board.piece_on(mv.from).unwrap_or(Piece::King);
        // Castling is encoded as the king's move to its own rook's square. Only an en-passant
        // capture moves a pawn to an empty square of another file.
        let castles = self.ours.has(mv.to);
        let en_passant =
            piece == Piece::Pawn && mv.from.file() != mv.to.file() && !board.occupied().has(mv.to);
        if castles || en_passant || mv.promotion.is_some() {
            return !board_after(board, mv).checkers().is_empty();
        }
        let discovers =
            self.discoverers.has(mv.from) && !get_line_rays(self.king, mv.from).has(mv.to);
        discovers || self.squares[piece as usize].has(mv.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_positions::BENCH_POSITIONS;
    use crate::placement::piece_attacks;
    use crate::position::{Position, legal_moves};

    #[test]
    fn every_square_is_attacked_that_some_piece_attacks() {
        for fen in BENCH_POSITIONS {
            let board: Board = fen.parse().expect("a position");
            for color in Color::ALL {
                let is_attacked = |square: Square| {
                    Piece::ALL.into_iter().any(|piece| {
                        let from = piece_attacks(piece, !color, square, board.occupied());
                        !(board.colored_pieces(color, piece) & from).is_empty()
                    })
                };
                let expected: BitBoard =
                    Square::ALL.into_iter().filter(|&square| is_attacked(square)).collect();
                assert_eq!(attacked_squares(&board, color), expected, "{fen} {color}");
            }
        }
    }

    /// Compares [`CheckSquares`] with the board after the move, for every move of every line of
    /// `plies` plies.
    fn compare(board: &Board, plies: u32, checks: &mut usize) {
        let squares = CheckSquares::new(board);
        for mv in legal_moves(board) {
            let child = board_after(board, mv);
            let is_check = !child.checkers().is_empty();
            assert_eq!(squares.gives_check(board, mv), is_check, "{board} {mv}");
            *checks += usize::from(is_check);
            if plies > 1 {
                compare(&child, plies - 1, checks);
            }
        }
    }

    #[test]
    fn checks_are_told_of_every_kind_of_move() -> anyhow::Result<()> {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "8/8/8/2k5/3Pp3/8/5B2/4K2R b K d3 0 1",
        ] {
            let mut checks = 0;
            compare(Position::from_fen(fen)?.board(), 3, &mut checks);
            assert!(checks > 10, "{fen}: {checks}");
        }
        Ok(())
    }
}
