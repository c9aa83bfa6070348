//! The active rows of one position, found piece by piece.

use azimuth_chess::placement::Placement;
use azimuth_chess::see::StaticExchange;
use cozy_chess::{BitBoard, Color, Piece};

use super::attacks::Attacks;
use super::feature_set::{FeatureSet, PIECE_SQUARES, States};
use super::states::{ExchangeStates, attack_state};
use super::threats::Threats;
use super::view::View;

/// Receives the rows of a position. Of each pair, the first is in the side to move's view and the
/// second in the other side's.
pub(super) trait RowSink {
    /// The rows of a piece, and its squares in the views.
    fn piece(&mut self, rows: [u16; 2], squares: [usize; 2]);

    /// The rows of the pair of threats `index`.
    fn threat(&mut self, index: usize, rows: [u16; 2]);
}

/// Finds the rows of a legal position: piece by piece, White's first, then the threats.
pub(super) fn find_rows(set: FeatureSet, placement: &Placement, sink: &mut impl RowSink) {
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
