//! The reward of a move (the document's section 3d): material, the centre, king safety, mobility
//! and repetition, as fractions of a won game. The document names the terms but not their weights.

use azimuth_chess::position::{Position, board_after, repetition_key};
use cozy_chess::{BitBoard, Board, Color, Move, Piece, Square, get_king_moves};

/// For a pawn, knight, bishop, rook, queen, king.
const MATERIAL: [f32; Piece::NUM] = [0.1, 0.3, 0.3, 0.5, 0.9, 0.0];

/// For each own piece on the four central squares.
const CENTRE: f32 = 0.01;

/// For each own piece adjacent to the king.
const KING_SAFETY: f32 = 0.005;

/// For each legal reply of the opponent.
const MOBILITY_PENALTY: f32 = 0.001;

/// For repeating a position.
const REPETITION_PENALTY: f32 = 0.1;

/// The outcome's reward for each of the winner's moves; the loser's moves get its negative.
pub const OUTCOME: f32 = 1.0;

/// The reward of the side that plays `mv`.
pub fn reward(before: &Position, mv: Move) -> f32 {
    let board = before.board();
    let (own, after) = (board.side_to_move(), board_after(board, mv));
    let gained = |count: fn(&Board, Color) -> f32| count(&after, own) - count(board, own);
    let mut replies = 0;
    after.generate_moves(|moves| {
        replies += moves.len();
        false
    });
    let repeated = before.history().contains(&repetition_key(&after));
    gained(|board, own| material(board, own) - material(board, !own))
        + CENTRE * gained(centre)
        + KING_SAFETY * gained(king_safety)
        - MOBILITY_PENALTY * replies as f32
        - if repeated { REPETITION_PENALTY } else { 0.0 }
}

fn material(board: &Board, side: Color) -> f32 {
    let of =
        |piece: Piece| MATERIAL[piece as usize] * board.colored_pieces(side, piece).len() as f32;
    Piece::ALL.into_iter().map(of).sum()
}

fn centre(board: &Board, side: Color) -> f32 {
    let middle = [Square::D4, Square::E4, Square::D5, Square::E5];
    let middle = middle.into_iter().fold(BitBoard::EMPTY, |all, square| all | square.bitboard());
    (board.colors(side) & middle).len() as f32
}

fn king_safety(board: &Board, side: Color) -> f32 {
    (board.colors(side) & get_king_moves(board.king(side))).len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_are_those_worked_out_by_hand() -> anyhow::Result<()> {
        let of = |fen: &str, mv: &str| -> anyhow::Result<f32> {
            let position = Position::from_fen(fen)?;
            Ok(reward(&position, position.parse_move(mv)?))
        };
        let close = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-6, "{found}");
        // A knight captures a pawn in the centre, which it enters; Black's king has 3 replies.
        close(of("7k/8/8/4p3/8/5N2/8/K7 w - - 0 1", "f3e5")?, 0.1 + 0.01 - 0.003);
        // The king leaves its pawn; Black's king has 3 replies.
        close(of("7k/8/8/8/8/8/P7/1K6 w - - 0 1", "b1c1")?, -0.005 - 0.003);
        let mut position = Position::from_fen("7k/8/8/8/8/8/P7/1K6 w - - 0 1")?;
        for mv in ["b1c1", "h8g8", "c1b1"] {
            position.play(position.parse_move(mv)?);
        }
        // White has four king moves and two pawn moves.
        close(reward(&position, position.parse_move("g8h8")?), -0.1 - 0.006);
        Ok(())
    }
}
