//! The side from whose view a network sees a board.

use candle_core::{Device, Result, Tensor};
use cozy_chess::{Board, BoardBuilder, Color, Square};

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
    use super::*;

    #[test]
    fn a_turned_board_has_colours_swapped_and_ranks_mirrored() {
        let black = "r3k3/8/8/8/1pP5/8/8/4K2R b Kq c3 37 52";
        let white = "4k2r/8/8/1Pp5/8/8/8/R3K3 w Qk c6 37 52";
        let [black, white] = [black, white].map(|fen| fen.parse::<Board>().expect("valid"));
        assert_eq!(turned(&black), white);
        assert_eq!(turned(&white), black);
    }
}
