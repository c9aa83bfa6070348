//! Boards and moves as network inputs (the document's section 3c). A board is 14 planes of 8 x 8
//! and 7 numbers. Twelve planes are the pieces of both sides. The document leaves the other two
//! empty; with `attacks` they hold the squares that each side attacks. The numbers are four
//! castling rights, the side to move, check, and the move number. In total 14 x 64 + 7 = 903, as in
//! the document. A move is its origin and target squares, each divided by 63. With these two the
//! dense layer takes 9 numbers beside the planes, which is the "+9" of the document.

use azimuth_chess::attacked_squares::attacked_squares;
use candle_core::{Device, Result, Tensor};
use cozy_chess::{Board, Color, Move, Piece, Square};

/// Number of planes of a board.
pub const PLANES: usize = 14;

/// Numbers of a board beside the planes.
pub const STATE: usize = 7;

/// Numbers of a move.
pub const ACTION: usize = 2;

/// The first of the two planes of attacked squares, White's and Black's.
const ATTACKED: usize = 2 * Piece::NUM;

/// Divisor of the move number.
const LONG_GAME: f32 = 100.0;

/// The inputs of boards on a device: planes (boards x 64 x 14) and numbers (boards x 7). The last
/// two planes stay empty without `attacks`.
pub fn states<'a>(
    boards: impl ExactSizeIterator<Item = &'a Board>,
    attacks: bool,
    device: &Device,
) -> Result<[Tensor; 2]> {
    let count = boards.len();
    let mut planes = vec![0f32; count * Square::NUM * PLANES];
    let mut numbers = Vec::with_capacity(count * STATE);
    for (board, planes) in boards.zip(planes.chunks_exact_mut(Square::NUM * PLANES)) {
        for color in [Color::White, Color::Black] {
            for piece in Piece::ALL {
                let plane = color as usize * Piece::NUM + piece as usize;
                for square in board.colored_pieces(color, piece) {
                    planes[square as usize * PLANES + plane] = 1.0;
                }
            }
            if attacks {
                for square in attacked_squares(board, color) {
                    planes[square as usize * PLANES + ATTACKED + color as usize] = 1.0;
                }
            }
        }
        let [white, black] = [Color::White, Color::Black].map(|color| board.castle_rights(color));
        let is = |condition: bool| f32::from(u8::from(condition));
        numbers.extend([
            is(white.short.is_some()),
            is(white.long.is_some()),
            is(black.short.is_some()),
            is(black.long.is_some()),
            is(board.side_to_move() == Color::White),
            is(!board.checkers().is_empty()),
            f32::from(board.fullmove_number()) / LONG_GAME,
        ]);
    }
    Ok([
        Tensor::from_vec(planes, (count, Square::NUM, PLANES), device)?,
        Tensor::from_vec(numbers, (count, STATE), device)?,
    ])
}

/// The inputs of moves on a device (moves x 2).
pub fn actions(moves: impl ExactSizeIterator<Item = Move>, device: &Device) -> Result<Tensor> {
    let count = moves.len();
    let numbers = moves.flat_map(|mv| [mv.from, mv.to]).map(|square| square as usize as f32 / 63.0);
    Tensor::from_vec(numbers.collect(), (count, ACTION), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_worked_out_by_hand() -> Result<()> {
        assert_eq!(PLANES * Square::NUM + STATE, 903);
        let board: Board = "r3k3/8/8/8/8/8/4r3/4K2R w Kq - 0 25".parse().expect("valid");
        let set = |attacks: bool, square: Square| -> Result<Vec<usize>> {
            let [planes, numbers] = states([&board].into_iter(), attacks, &Device::Cpu)?;
            assert_eq!(numbers.to_vec2::<f32>()?, [[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.25]]);
            let planes = planes.to_vec3::<f32>()?.remove(0);
            Ok((0..PLANES).filter(|&plane| planes[square as usize][plane] == 1.0).collect())
        };
        assert_eq!(set(false, Square::E1)?, [5]);
        assert_eq!(set(false, Square::E2)?, [9]);
        assert_eq!(set(false, Square::D4)?, [0; 0]);
        // e1: defended by the rook on h1, attacked by that on e2, which the king attacks.
        assert_eq!(set(true, Square::E1)?, [5, 12, 13]);
        assert_eq!(set(true, Square::E2)?, [9, 12]);
        assert_eq!(set(true, Square::D8)?, [13]);
        assert_eq!(set(true, Square::D4)?, [0; 0]);
        let mv = "a1h8".parse().expect("a move");
        assert_eq!(actions([mv].into_iter(), &Device::Cpu)?.to_vec2::<f32>()?, [[0.0, 1.0]]);
        Ok(())
    }
}
