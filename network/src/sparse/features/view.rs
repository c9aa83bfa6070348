//! The board from one side's view, with that side's first rank at the bottom.

use azimuth_chess::placement::Placement;
use cozy_chess::{Color, File, Piece, Rank, Square};

use super::feature_set::{FeatureSet, KingView};

/// Computes the rows of the features in one side's view.
pub struct View {
    color: Color,
    /// XOR mask of squares: reverses the ranks for Black, and the files if the king requires it.
    flip: usize,
    first_piece: usize,
}

impl View {
    /// The view of `color`.
    pub fn new(set: FeatureSet, placement: &Placement, color: Color) -> Self {
        let ranks = if color == Color::White { 0 } else { 56 };
        let king = placement.king(color);
        let files = if set.king != KingView::None && king.file() > File::D { 7 } else { 0 };
        let bucket = match (set.king, king.rank().relative_to(color)) {
            (KingView::None | KingView::Mirror, _) => 0,
            (KingView::Buckets, Rank::First) => {
                usize::from((File::C..=File::F).contains(&king.file()))
            }
            (KingView::Buckets, Rank::Second) => 2,
            (KingView::Buckets, _) => 3,
        };
        Self { color, flip: ranks ^ files, first_piece: set.first_piece(bucket) }
    }

    /// The row of a `piece` of `color` in state 0 on square 0 of this view. A state adds
    /// [`PIECE_SQUARES`](super::PIECE_SQUARES) rows, a square one.
    pub fn first_row(&self, color: Color, piece: Piece) -> usize {
        self.first_piece + self.kind(color, piece) * Square::NUM
    }

    /// A square in this view.
    pub fn square(&self, square: Square) -> usize {
        square as usize ^ self.flip
    }

    /// Index of a kind of piece: own pieces first, then the other side's.
    fn kind(&self, color: Color, piece: Piece) -> usize {
        usize::from(color != self.color) * Piece::NUM + piece as usize
    }
}
