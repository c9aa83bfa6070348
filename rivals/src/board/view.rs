//! The side from whose view a network sees a board.

use candle_core::{Device, Result, Tensor};
use cozy_chess::{Board, Color};

/// White, as in the document. For a network that sees `oriented` boards, the side to move: it sees
/// its own pieces where White's are otherwise, and the ranks from its side.
pub fn viewer(board: &Board, oriented: bool) -> Color {
    if oriented { board.side_to_move() } else { Color::White }
}

/// Turns values for the viewers of boards into values for White, and back: 1 for each board that
/// White views, -1 for the others.
pub fn signs<'a>(
    boards: impl Iterator<Item = &'a Board>,
    oriented: bool,
    device: &Device,
) -> Result<Tensor> {
    let sign = |board| if viewer(board, oriented) == Color::White { 1f32 } else { -1.0 };
    Tensor::from_iter(boards.map(sign), device)
}
