//! Boards and moves as network inputs and outputs, in the encodings of the documents.
//!
//! The planes are the simplified AlphaZero encoding: 20 planes of 8 x 8 (seed document 004, section
//! 2.2.1, first method).
//!
//! | plane | |
//! |---|---|
//! | 0-5 | White's pawns, rooks, knights, bishops, queens, king |
//! | 6-11 | Black's |
//! | 12 | 1 if White is to move |
//! | 13, 14 | White may castle short, long |
//! | 15, 16 | Black may castle short, long |
//! | 17 | 1 if an en passant capture is legal |
//! | 18 | half-moves since the last capture or pawn move, divided by 100 |
//! | 19 | full moves, divided by 100 |
//!
//! The document assigns both planes 14 and 16 to Black's long castling and none to White's. Here
//! plane 14 is White's.
//!
//! *Oriented* planes show the board from the side to move: its pieces and castling rights are in
//! the planes of White's, and its first rank is in the place of White's.
//!
//! Moves are indices in 8 x 8 x 73 (AlphaZero; seed document 004, section 2.2.2): the origin square
//! and one of 73 move types. 56 are queen moves (8 directions, 1 to 7 squares), 8 are knight moves,
//! and 9 are underpromotions of a pawn.
//!
//! The document does not give the order. Here the index of a move is `73 * square + type`, with
//! squares a1, b1, ... h8 and directions clockwise from north. Castling has the index of a king's
//! move of two squares, in Chess960 as well; no other move has this index.

use azimuth_chess::position::legal_en_passant;
use candle_core::{Device, Result, Tensor};
use cozy_chess::{Board, BoardBuilder, Color, Move, Piece, Square};

pub const PLANES: usize = 20;

/// The pieces in the order of their planes.
pub const PIECES: [Piece; Piece::NUM] =
    [Piece::Pawn, Piece::Rook, Piece::Knight, Piece::Bishop, Piece::Queen, Piece::King];

/// Boards as planes on a device, channels last: boards x 64 squares (a1, b1, ... h8) x 20.
pub fn planes<'a>(
    boards: impl ExactSizeIterator<Item = &'a Board>,
    oriented: bool,
    device: &Device,
) -> Result<Tensor> {
    let count = boards.len();
    let mut values = vec![0.0; count * Square::NUM * PLANES];
    for (board, values) in boards.zip(values.chunks_exact_mut(Square::NUM * PLANES)) {
        write(board, viewer(board, oriented), values);
    }
    Tensor::from_vec(values, (count, Square::NUM, PLANES), device)
}

fn write(board: &Board, view: Color, values: &mut [f32]) {
    for (color, first) in [(view, 0), (!view, PIECES.len())] {
        for (plane, piece) in (first..).zip(PIECES) {
            for square in board.colored_pieces(color, piece) {
                values[square.relative_to(view) as usize * PLANES + plane] = 1.0;
            }
        }
    }
    let [own_short, own_long, other_short, other_long] = castling(board, view);
    let everywhere = [
        bit(board.side_to_move() == view),
        own_short,
        own_long,
        other_short,
        other_long,
        bit(legal_en_passant(board).is_some()),
        f32::from(board.halfmove_clock()) / 100.0,
        f32::from(board.fullmove_number()) / 100.0,
    ];
    for square in values.chunks_exact_mut(PLANES) {
        square[PLANES - everywhere.len()..].copy_from_slice(&everywhere);
    }
}

/// The short and long castling rights of `view`, then those of the other side: 1 or 0.
pub fn castling(board: &Board, view: Color) -> [f32; 4] {
    let [own, other] = [view, !view].map(|color| board.castle_rights(color));
    [own.short, own.long, other.short, other.long].map(|rook| bit(rook.is_some()))
}

/// 1 if the condition holds, otherwise 0.
pub fn bit(condition: bool) -> f32 {
    f32::from(u8::from(condition))
}

/// The side from whose view a network sees `board`: White, as in the document, or with `oriented`
/// the side to move. Black sees the board as [`turned`] returns it.
pub fn viewer(board: &Board, oriented: bool) -> Color {
    if oriented { board.side_to_move() } else { Color::White }
}

/// Factors (one for each board) that convert values for the viewer into values for White, and
/// back: 1 if White is the viewer, otherwise -1.
pub fn signs<'a>(
    boards: impl Iterator<Item = &'a Board>,
    oriented: bool,
    device: &Device,
) -> Result<Tensor> {
    let sign = |board| for_side(viewer(board, oriented), 1.0);
    Tensor::from_iter(boards.map(sign), device)
}

/// A value for White as one for `side`, and back.
pub fn for_side(side: Color, value: f32) -> f32 {
    if side == Color::White { value } else { -value }
}

/// The board with colours swapped and ranks mirrored.
pub fn turned(board: &Board) -> Board {
    let mut builder = BoardBuilder::from_board(board);
    for square in Square::ALL {
        let piece = board.piece_on(square.flip_rank()).zip(board.color_on(square.flip_rank()));
        builder.board[square as usize] = piece.map(|(piece, color)| (piece, !color));
    }
    builder.side_to_move = !builder.side_to_move;
    builder.castle_rights.reverse();
    builder.en_passant = builder.en_passant.map(Square::flip_rank);
    builder.build().expect("a legal board is legal with colours swapped")
}

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

/// Boards and moves in checkpoints, as text.
pub mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes a move, or a board as Shredder-FEN.
    pub fn serialize<S: Serializer>(value: &impl Display, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{value:#}"))
    }

    /// The inverse of [`serialize`].
    pub fn deserialize<'a, T, D>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'a>,
    {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Numbers in checkpoints, as doubles, which JSON restores exactly.
pub mod as_double {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a number.
    pub fn serialize<S: Serializer>(value: &f32, to: S) -> Result<S::Ok, S::Error> {
        f64::from(*value).serialize(to)
    }

    /// The inverse of [`serialize`].
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<f32, D::Error> {
        Ok(f64::deserialize(from)? as f32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use azimuth_chess::position::{Position, STARTPOS, legal_moves, uci_move};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// The values of all planes on a square.
    fn of(fen: &str, square: Square) -> anyhow::Result<Vec<f32>> {
        Ok(all_of(fen, false)?[square as usize].clone())
    }

    fn all_of(fen: &str, oriented: bool) -> anyhow::Result<Vec<Vec<f32>>> {
        let position = Position::from_fen(fen)?;
        let planes = planes([position.board()].into_iter(), oriented, &Device::Cpu)?;
        Ok(planes.squeeze(0)?.to_vec2()?)
    }

    #[test]
    fn black_sees_an_oriented_board_as_white_sees_its_mirror_image() -> anyhow::Result<()> {
        let black = "r3k3/8/8/8/1pP5/8/8/4K2R b Kq c3 37 52";
        let white = "4k2r/8/8/1Pp5/8/8/8/R3K3 w Qk c6 37 52";
        let planes = all_of(black, true)?;
        assert_eq!(planes, all_of(white, false)?);
        assert_eq!(planes, all_of(white, true)?);
        let [black, white] = [black, white].map(|fen| fen.parse::<Board>().expect("valid"));
        assert_eq!(turned(&black), white);
        assert_eq!(turned(&white), black);
        Ok(())
    }

    #[test]
    fn planes_are_those_of_the_documents_table() -> anyhow::Result<()> {
        // Computed by hand: White's king on e1 is plane 5; White may castle short and Black long;
        // Black is to move and may capture en passant; 37 half-moves, move 52.
        let fen = "r3k3/8/8/8/1pP5/8/8/4K2R b Kq c3 37 52";
        let mut expected = vec![0.0; PLANES];
        for plane in [5, 13, 16, 17] {
            expected[plane] = 1.0;
        }
        (expected[18], expected[19]) = (0.37, 0.52);
        assert_eq!(of(fen, Square::E1)?, expected);
        // Black's rook on a8 is plane 7, the second of Black's.
        expected[5] = 0.0;
        expected[7] = 1.0;
        assert_eq!(of(fen, Square::A8)?, expected);
        expected[7] = 0.0;
        assert_eq!(of(fen, Square::D5)?, expected);
        // White to move is plane 12, and no capture on e3 is legal.
        let mut expected = vec![0.0; PLANES];
        for plane in [0, 12, 13, 14, 15, 16] {
            expected[plane] = 1.0;
        }
        expected[19] = 0.01;
        assert_eq!(of(STARTPOS, Square::E2)?, expected);
        Ok(())
    }

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
        // e2 is square 12; north is direction 0, and two squares are its second type.
        assert_eq!(named(STARTPOS, "e2e4"), 12 * 73 + 1);
        // g1 is square 6; north-north-west is the eighth knight step.
        assert_eq!(named(STARTPOS, "g1f3"), 6 * 73 + 56 + 7);
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
}
