//! The board as one side sees it, with its own first rank at the bottom.

use cozy_chess::{Color, File, Piece, Rank, Square};

use super::Placement;
use super::set::{FeatureSet, KingView};

/// What one side sees.
pub struct View {
    set: FeatureSet,
    color: Color,
    /// Exchanges ranks, and files where the king's side asks for it.
    flip: usize,
    bucket: usize,
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
        Self { set, color, flip: ranks ^ files, bucket }
    }

    /// The row of a piece in a state.
    pub fn piece(&self, state: usize, color: Color, piece: Piece, square: Square) -> u16 {
        let place = self.kind(color, piece) * 64 + self.place(square);
        self.set.piece_row(self.bucket, state, place) as u16
    }

    /// The row of an attack by the `attacker` of `color` on the `victim` on `square`.
    pub fn capture(&self, color: Color, attacker: Piece, victim: Piece, square: Square) -> u16 {
        let pair = self.kind(color, attacker) * Piece::NUM + victim as usize;
        self.set.capture_row(pair * 64 + self.place(square)) as u16
    }

    /// Own kinds of pieces, then theirs.
    fn kind(&self, color: Color, piece: Piece) -> usize {
        usize::from(color != self.color) * Piece::NUM + piece as usize
    }

    fn place(&self, square: Square) -> usize {
        square as usize ^ self.flip
    }
}
