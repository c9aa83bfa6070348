//! The active rows of one position in the views of both sides, found piece by piece.

use azimuth_chess::placement::Placement;
use azimuth_chess::see::StaticExchange;
use cozy_chess::{BitBoard, Color, File, Piece, Rank, Square};

use super::feature_set::{FeatureSet, KingView, PIECE_SQUARES, States};
use super::states::{Attacks, ExchangeStates, Threats, attack_state};

/// Receives the rows of a position. Of each pair, the first is in the side to move's view and the
/// second in the other side's.
pub trait RowSink {
    /// The rows of a piece, and its squares in the views.
    fn piece(&mut self, rows: [u16; 2], squares: [usize; 2]);

    /// The rows of the pair of threats `index`.
    fn threat(&mut self, index: usize, rows: [u16; 2]);
}

/// Finds the rows of a legal position: piece by piece, White's first, then the threats.
pub fn find_rows(set: FeatureSet, placement: &Placement, sink: &mut impl RowSink) {
    let attacks = Attacks::of(placement);
    let exchanges =
        (set.states == States::Exchange || set.threats).then(|| StaticExchange::new(placement));
    let pinned = exchanges.as_ref().map_or(BitBoard::EMPTY, |exchanges| exchanges.pinned);
    let us = placement.side_to_move;
    let views = [View::new(set, placement, us), View::new(set, placement, !us)];
    let mut threats = Threats::default();
    for color in Color::ALL {
        let states = ExchangeStates::new(placement, &attacks, pinned, color);
        let enemies_attack = attacks.by(!color).any;
        for piece in Piece::ALL {
            let first = [views[0].first_row(color, piece), views[1].first_row(color, piece)];
            for square in placement.pieces[piece as usize] & placement.colors[color as usize] {
                let exchanges = exchanges.as_ref().filter(|_| enemies_attack.has(square));
                let gain = exchanges.and_then(|exchanges| exchanges.see_on(square, piece, color));
                if let Some(gain) = gain {
                    threats.add(!color, gain);
                }
                let state = match set.states {
                    States::PieceSquare => 0,
                    States::Attack => attack_state(&attacks, piece, square, color),
                    States::Exchange => states.of(piece, square, gain),
                };
                let squares = [views[0].square(square), views[1].square(square)];
                let row =
                    |view: usize| (first[view] + state * PIECE_SQUARES + squares[view]) as u16;
                sink.piece([row(0), row(1)], squares);
            }
        }
    }
    if set.threats {
        for (index, pair) in threats.pairs(placement, &attacks).into_iter().enumerate() {
            let row = |view| set.threat_row(index, view, pair) as u16;
            sink.threat(index, [row(0), row(1)]);
        }
    }
}

/// The board from one side's view, with that side's first rank at the bottom: computes the rows of
/// the features in it.
struct View {
    color: Color,
    /// XOR mask of squares: reverses the ranks for Black, and the files if the king requires it.
    flip: usize,
    first_piece: usize,
}

impl View {
    /// The view of `color`.
    fn new(set: FeatureSet, placement: &Placement, color: Color) -> Self {
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
    /// [`PIECE_SQUARES`] rows, a square one.
    fn first_row(&self, color: Color, piece: Piece) -> usize {
        self.first_piece + self.kind(color, piece) * Square::NUM
    }

    /// A square in this view.
    fn square(&self, square: Square) -> usize {
        square as usize ^ self.flip
    }

    /// Index of a kind of piece: own pieces first, then the other side's.
    fn kind(&self, color: Color, piece: Piece) -> usize {
        usize::from(color != self.color) * Piece::NUM + piece as usize
    }
}
