//! Piece placement, where the pieces stand and whose move it is: what features and exchanges depend on.

use cozy_chess::{BitBoard, Board, Color, Piece, Square};

/// The pieces of a position and whose move it is: all that the features depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Pieces by colour.
    pub colors: [BitBoard; Color::NUM],
    /// Pieces by kind.
    pub pieces: [BitBoard; Piece::NUM],
    /// Whose move it is.
    pub side_to_move: Color,
}

impl Placement {
    /// The placement on `board`.
    pub fn of(board: &Board) -> Self {
        Self {
            colors: Color::ALL.map(|color| board.colors(color)),
            pieces: Piece::ALL.map(|piece| board.pieces(piece)),
            side_to_move: board.side_to_move(),
        }
    }

    /// Where the king of `color` stands.
    pub fn king(&self, color: Color) -> Square {
        let kings = self.pieces[Piece::King as usize] & self.colors[color as usize];
        kings.next_square().unwrap_or(Square::A1)
    }

    /// The same position with the a-file and the h-file exchanged, and so on.
    pub fn mirrored(self) -> Self {
        Self {
            colors: self.colors.map(BitBoard::flip_files),
            pieces: self.pieces.map(BitBoard::flip_files),
            side_to_move: self.side_to_move,
        }
    }
}
