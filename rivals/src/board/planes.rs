//! The simplified AlphaZero encoding: 20 planes of 8 x 8 (seed document 004, section 2.2.1, first
//! method).
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

use azimuth_chess::position::legal_en_passant;
use candle_core::{Device, Result, Tensor};
use cozy_chess::{Board, BoardBuilder, Color, Piece, Square};

/// Number of planes of a board.
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
    let [own, other] = [view, !view].map(|color| board.castle_rights(color));
    let is = |condition: bool| f32::from(u8::from(condition));
    let everywhere = [
        is(board.side_to_move() == view),
        is(own.short.is_some()),
        is(own.long.is_some()),
        is(other.short.is_some()),
        is(other.long.is_some()),
        is(legal_en_passant(board).is_some()),
        f32::from(board.halfmove_clock()) / 100.0,
        f32::from(board.fullmove_number()) / 100.0,
    ];
    for square in values.chunks_exact_mut(PLANES) {
        square[PLANES - everywhere.len()..].copy_from_slice(&everywhere);
    }
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
    let sign = |board| if viewer(board, oriented) == Color::White { 1f32 } else { -1.0 };
    Tensor::from_iter(boards.map(sign), device)
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

#[cfg(test)]
mod tests {
    use azimuth_chess::position::Position;

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
        let black = all_of("r3k3/8/8/8/1pP5/8/8/4K2R b Kq c3 37 52", true)?;
        let white = "4k2r/8/8/1Pp5/8/8/8/R3K3 w Qk c6 37 52";
        assert_eq!(black, all_of(white, false)?);
        assert_eq!(black, all_of(white, true)?);
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
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let mut expected = vec![0.0; PLANES];
        for plane in [0, 12, 13, 14, 15, 16] {
            expected[plane] = 1.0;
        }
        expected[19] = 0.01;
        assert_eq!(of(start, Square::E2)?, expected);
        Ok(())
    }

    #[test]
    fn a_turned_board_has_colours_swapped_and_ranks_mirrored() {
        let black = "r3k3/8/8/8/1pP5/8/8/4K2R b Kq c3 37 52";
        let white = "4k2r/8/8/1Pp5/8/8/8/R3K3 w Qk c6 37 52";
        let [black, white] = [black, white].map(|fen| fen.parse::<Board>().expect("valid"));
        assert_eq!(turned(&black), white);
        assert_eq!(turned(&white), black);
    }
}
