//! The reward of a move (the document's section 3d): material, the centre, king safety, mobility
//! and repetition, as fractions of a won game. The document names the terms but not their weights.
//! The move that ends the game gets its outcome, and every move of the game a small part of it.

use azimuth_chess::position::{Position, board_after, repetition_key};
use cozy_chess::{BitBoard, Board, Color, GameStatus, Move, Piece, Square, get_king_moves};

/// For a pawn, knight, bishop, rook, queen, king.
const MATERIAL: [f32; Piece::NUM] = [0.1, 0.3, 0.3, 0.5, 0.9, 0.0];

/// For each own piece on the four central squares.
const CENTRE: f32 = 0.01;

/// For each own piece adjacent to the king.
const KING_SAFETY: f32 = 0.005;

/// For each legal reply of the opponent.
const MOBILITY_PENALTY: f32 = 0.003;

/// For repeating a position.
const REPETITION_PENALTY: f32 = 0.1;

/// For giving mate.
const MATE: f32 = 1.0;

/// For each move of the winner, in addition; the loser's moves get its negative.
pub const OUTCOME: f32 = 0.01;

/// The reward of the side that plays `mv`, except for repeating a position ([`repetition`]).
pub fn reward(board: &Board, mv: Move) -> f32 {
    let (own, after) = (board.side_to_move(), board_after(board, mv));
    let gained = |count: fn(&Board, Color) -> f32| count(&after, own) - count(board, own);
    let end = match after.status() {
        GameStatus::Won => MATE,
        // A stalemate gives away the lead.
        GameStatus::Drawn => material(&after, !own) - material(&after, own),
        GameStatus::Ongoing => -MOBILITY_PENALTY * replies(&after) as f32,
    };
    gained(|board, own| material(board, own) - material(board, !own))
        + CENTRE * gained(centre)
        + KING_SAFETY * gained(king_safety)
        + end
}

/// The reward for repeating a position with `mv`; 0 if it does not.
pub fn repetition(before: &Position, mv: Move) -> f32 {
    let key = repetition_key(&board_after(before.board(), mv));
    if before.history().contains(&key) { -REPETITION_PENALTY } else { 0.0 }
}

fn replies(board: &Board) -> usize {
    let mut count = 0;
    board.generate_moves(|moves| {
        count += moves.len();
        false
    });
    count
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
            let mv = position.parse_move(mv)?;
            Ok(reward(position.board(), mv) + repetition(&position, mv))
        };
        let close = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-6, "{found}");
        // A knight captures a pawn in the centre, which it enters; Black's king has 3 replies.
        close(of("7k/8/8/4p3/8/5N2/8/K7 w - - 0 1", "f3e5")?, 0.1 + 0.01 - 0.009);
        // The king leaves its pawn; Black's king has 3 replies.
        close(of("7k/8/8/8/8/8/P7/1K6 w - - 0 1", "b1c1")?, -0.005 - 0.009);
        let mut position = Position::from_fen("7k/8/8/8/8/8/P7/1K6 w - - 0 1")?;
        for mv in ["b1c1", "h8g8", "c1b1"] {
            position.play(position.parse_move(mv)?);
        }
        // White has four king moves and two pawn moves.
        let mv = position.parse_move("g8h8")?;
        close(reward(position.board(), mv), -0.018);
        close(repetition(&position, mv), -0.1);
        // Mate on the back rank; the rook leaves nobody behind.
        close(of("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", "d1d8")?, 1.0);
        // A stalemate gives away a queen.
        close(of("k7/8/8/1Q6/8/8/8/K7 w - - 0 1", "b5b6")?, -0.9);
        Ok(())
    }
}
