//! Moves as indices in 8 x 8 x 73 (AlphaZero; seed document 004, section 2.2.2): the origin square
//! and one of 73 move types. 56 are queen moves (8 directions, 1 to 7 squares), 8 are knight moves,
//! and 9 are underpromotions of a pawn.
//!
//! The document does not give the order. Here the index of a move is `73 * square + type`, with
//! squares a1, b1, ... h8 and directions clockwise from north. Castling has the index of a king's
//! move of two squares, in Chess960 as well; no other move has this index.
//!
//! Boards and moves as text, for checkpoints.

use anyhow::{Result, anyhow, ensure};
use cozy_chess::{Board, Color, Move, Piece, Square};

/// Move types for each square.
const WAYS: usize = 73;

/// Number of move indices.
pub const MOVES: usize = Square::NUM * WAYS;

/// The longest queen move, in squares.
const FARTHEST: usize = 7;

const QUEEN_WAYS: usize = DIRECTIONS.len() * FARTHEST;

/// Steps as files and ranks, clockwise from north.
const DIRECTIONS: [(i8, i8); 8] =
    [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// Steps of a knight, clockwise from north-north-east.
const KNIGHT_STEPS: [(i8, i8); 8] =
    [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

/// The pieces of an underpromotion.
const UNDERPROMOTIONS: [Piece; 3] = [Piece::Knight, Piece::Bishop, Piece::Rook];

/// The index of a legal move, in 0..4672, as `view` sees the board.
pub fn move_index(board: &Board, mv: Move, view: Color) -> usize {
    mv.from.relative_to(view) as usize * WAYS + way(board, mv, view)
}

fn way(board: &Board, mv: Move, view: Color) -> usize {
    let [from, to] = [mv.from, mv.to].map(|square| square.relative_to(view));
    let (mut files, ranks) =
        (to.file() as i8 - from.file() as i8, to.rank() as i8 - from.rank() as i8);
    if let Some(promotion) = UNDERPROMOTIONS.iter().position(|&p| Some(p) == mv.promotion) {
        return QUEEN_WAYS + KNIGHT_STEPS.len() + promotion * 3 + (files + 1) as usize;
    }
    if let Some(knight) = KNIGHT_STEPS.iter().position(|&step| step == (files, ranks)) {
        return QUEEN_WAYS + knight;
    }
    let castles = board.colors(board.side_to_move()).has(mv.to);
    if castles {
        files = 2 * files.signum();
    }
    let step = (files.signum(), ranks.signum());
    let direction = DIRECTIONS.iter().position(|&other| other == step).unwrap_or_default();
    let distance = files.unsigned_abs().max(ranks.unsigned_abs()) as usize;
    direction * FARTHEST + distance - 1
}

/// Number of legal moves.
pub fn move_count(board: &Board) -> usize {
    let mut count = 0;
    board.generate_moves(|moves| {
        count += moves.len();
        false
    });
    count
}

/// A board as Shredder-FEN, from which [`board_of`] makes the same board.
pub fn text_of(board: &Board) -> String {
    format!("{board:#}")
}

/// The inverse of [`text_of`].
pub fn board_of(text: &str) -> Result<Board> {
    Board::from_fen(text, true).map_err(|error| anyhow!("'{text}': {error}"))
}

/// Parses a move in cozy-chess notation, and checks that it is legal on `board`.
pub fn move_of(text: &str, board: &Board) -> Result<Move> {
    let mv: Move = text.parse().map_err(|error| anyhow!("move '{text}': {error}"))?;
    ensure!(board.is_legal(mv), "move '{text}' is not legal in '{board}'");
    Ok(mv)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use azimuth_chess::position::{board_after, legal_moves, uci_move};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn named(fen: &str, text: &str) -> usize {
        let board: Board = fen.parse().expect("valid");
        let mv = legal_moves(&board).into_iter().find(|&mv| uci_move(&board, mv, false) == text);
        move_index(&board, mv.expect(text), Color::White)
    }

    #[test]
    fn black_numbers_its_moves_as_white_those_of_the_mirror_image() {
        let boards = ["4k3/8/8/8/8/8/1p6/R3K2R b - - 0 1", "r3k2r/1P6/8/8/8/8/8/4K3 w - - 0 1"];
        let castling = ["r3k2r/8/8/8/8/8/8/4K3 b kq - 0 1", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"];
        for fens in [boards, castling] {
            let [black, white] = fens.map(|fen| fen.parse::<Board>().expect("valid"));
            for mv in legal_moves(&black) {
                let [from, to] = [mv.from, mv.to].map(|square| square.flip_rank());
                let number = move_index(&white, Move { from, to, ..mv }, Color::White);
                assert_eq!(move_index(&black, mv, Color::Black), number, "{mv}");
            }
        }
    }

    #[test]
    fn numbers_are_those_worked_out_by_hand() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        // e2 is square 12; north is direction 0, and two squares are its second type.
        assert_eq!(named(start, "e2e4"), 12 * 73 + 1);
        // g1 is square 6; north-north-west is the eighth knight step.
        assert_eq!(named(start, "g1f3"), 6 * 73 + 56 + 7);
        let castling = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
        // e1 is square 4; east is direction 2, west is 6.
        assert_eq!(named(castling, "e1g1"), 4 * 73 + 2 * 7 + 1);
        assert_eq!(named(castling, "e1c1"), 4 * 73 + 6 * 7 + 1);
        let promotion = "3r4/4P3/8/8/8/8/8/k1K5 w - - 0 1";
        // e7 is square 52; a queen to the north-west, a bishop there, a rook straight on.
        assert_eq!(named(promotion, "e7d8q"), 52 * 73 + 7 * 7);
        assert_eq!(named(promotion, "e7d8b"), 52 * 73 + 64 + 3);
        assert_eq!(named(promotion, "e7e8r"), 52 * 73 + 64 + 6 + 1);
    }

    #[test]
    fn no_two_legal_moves_share_a_number() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for game in 0..1000 {
            let mut board = match game % 2 {
                0 => Board::startpos(),
                _ => Board::chess960_startpos(rng.random_range(0..960)),
            };
            for _ in 0..rng.random_range(0..120) {
                let moves = legal_moves(&board);
                if moves.is_empty() {
                    break;
                }
                board.play_unchecked(moves[rng.random_range(0..moves.len())]);
            }
            let moves = legal_moves(&board);
            let numbers: BTreeSet<usize> =
                moves.iter().map(|&mv| move_index(&board, mv, Color::White)).collect();
            assert_eq!(numbers.len(), moves.len(), "{board}");
            assert!(numbers.last().is_none_or(|&last| last < MOVES));
        }
    }

    #[test]
    fn boards_and_moves_come_back() -> Result<()> {
        let after_a_push = "rnbqkbnr/1ppppppp/8/p7/4P3/8/PPPP1PPP/RNBQKBNR w HAha a6 0 2";
        for board in [
            Board::startpos(),
            Board::chess960_startpos(17),
            board_of(after_a_push)?,
            board_of("r3k2r/1P3ppp/8/2pPp3/8/8/p5PP/R3K2R w HAha c6 0 77")?,
        ] {
            assert_eq!(board_of(&text_of(&board))?, board);
            for mv in legal_moves(&board) {
                assert_eq!(move_of(&mv.to_string(), &board)?, mv);
                let after = board_after(&board, mv);
                assert_eq!(board_of(&text_of(&after))?, after, "{board} {mv}");
            }
        }
        assert!(board_of("8/8/8/8/8/8/8/8 w - - 0 1").is_err());
        assert!(move_of("e2e5", &Board::startpos()).is_err());
        Ok(())
    }
}
