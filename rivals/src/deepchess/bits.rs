//! A position as 773 bits: twelve for each square, the side to move, and four castling rights.

use candle_core::{Device, Result, Tensor};
use cozy_chess::{Board, Color, Piece, Square};

/// Number of bits of a position.
pub const BITS: usize = 12 * Square::NUM + 1 + 4;

/// The bits of boards on a device (boards x 773). The order is: White's pawns on a1, b1, ... h8,
/// then its knights, bishops, rooks, queens and king; the same for Black; 1 if White is to move;
/// White's short and long castling rights, then Black's.
pub fn bits<'a>(
    boards: impl ExactSizeIterator<Item = &'a Board>,
    device: &Device,
) -> Result<Tensor> {
    let count = boards.len();
    let mut bits = vec![0f32; count * BITS];
    for (board, bits) in boards.zip(bits.chunks_exact_mut(BITS)) {
        for color in [Color::White, Color::Black] {
            for piece in Piece::ALL {
                let plane = (color as usize * Piece::NUM + piece as usize) * Square::NUM;
                for square in board.colored_pieces(color, piece) {
                    bits[plane + square as usize] = 1.0;
                }
            }
        }
        let [white, black] = [Color::White, Color::Black].map(|color| board.castle_rights(color));
        let state = [
            board.side_to_move() == Color::White,
            white.short.is_some(),
            white.long.is_some(),
            black.short.is_some(),
            black.long.is_some(),
        ];
        for (bit, is_set) in bits[12 * Square::NUM..].iter_mut().zip(state) {
            *bit = f32::from(u8::from(is_set));
        }
    }
    Tensor::from_vec(bits, (count, BITS), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_worked_out_by_hand() -> Result<()> {
        assert_eq!(BITS, 773);
        let board: Board = "4k3/8/8/8/8/8/1P6/R3K3 w Q - 0 1".parse().expect("valid");
        let bits = bits([&board].into_iter(), &Device::Cpu)?.to_vec2::<f32>()?.remove(0);
        let set: Vec<usize> = (0..BITS).filter(|&bit| bits[bit] == 1.0).collect();
        // b2 is square 9 of plane 0, a1 square 0 of plane 3, e1 square 4 of plane 5, e8 square 60
        // of plane 11.
        assert_eq!(set, [9, 3 * 64, 5 * 64 + 4, 11 * 64 + 60, 768, 770]);
        Ok(())
    }
}
