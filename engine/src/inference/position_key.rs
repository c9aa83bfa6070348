//! Keys of positions in the score cache.

use cozy_chess::Board;

/// The part of a position that an evaluator depends on: positions that agree in it have the same
/// value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionKey {
    /// Pieces, side to move and castling rights.
    WithoutEnPassant,
    /// Also the en-passant square.
    WithEnPassant,
    /// Also both move counters.
    WithClocks,
}

impl PositionKey {
    /// The hash of that part of `board`.
    #[inline]
    pub fn of(self, board: &Board) -> u64 {
        match self {
            Self::WithoutEnPassant => board.hash_without_ep(),
            Self::WithEnPassant => board.hash(),
            Self::WithClocks => {
                let clocks =
                    u64::from(board.halfmove_clock()) << 16 | u64::from(board.fullmove_number());
                board.hash() ^ clocks.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            }
        }
    }
}
