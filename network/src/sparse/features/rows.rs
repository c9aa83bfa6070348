//! The active rows of one position in the views of both sides, found piece by piece.

use azimuth_chess::placement::{Placement, piece_attacks};
use azimuth_chess::see::StaticExchange;
use cozy_chess::{BitBoard, Color, File, Piece, Square};

use super::feature_set::{FeatureSet, KingView, PIECE_SQUARES, States};
use super::states::{Attacks, ExchangeStates, Threats, attack_state};

/// Receives the rows of a position. Of each pair, the first is in the side to move's view and the
/// second in the other side's.
pub trait RowSink {
    /// The rows of a piece, and its squares in the views.
    fn piece(&mut self, rows: [u16; 2], squares: [usize; 2]);

    /// The rows of the pair of threats `index`.
    fn threat(&mut self, index: usize, rows: [u16; 2]);

    /// A kind of attacker and the occupied squares that it attacks, after all pieces.
    fn attacker(&mut self, kinds: [usize; 2], squares: [BitBoard; 2]);
}

/// Finds the rows of a legal position: piece by piece, White's first, then the threats and the
/// attackers.
pub fn find_rows(set: FeatureSet, placement: &Placement, sink: &mut impl RowSink) {
    let us = placement.side_to_move;
    let views = [View::new(set, placement, us), View::new(set, placement, !us)];
    match set.states == States::PieceSquare && !set.threats {
        true => find_pieces(placement, &views, sink),
        false => find_states(set, placement, &views, sink),
    }
    if set.attackers {
        find_attackers(placement, &views, sink);
    }
}

/// Pieces without states.
fn find_pieces(placement: &Placement, views: &[View; 2], sink: &mut impl RowSink) {
    for color in Color::ALL {
        for piece in Piece::ALL {
            let first = views.each_ref().map(|view| view.first_row(color, piece));
            for square in placement.pieces[piece as usize] & placement.colors[color as usize] {
                let squares = views.each_ref().map(|view| view.square(square));
                let row = |view: usize| (first[view] + squares[view]) as u16;
                sink.piece([row(0), row(1)], squares);
            }
        }
    }
}

/// Pieces with their states, and threats.
fn find_states(set: FeatureSet, placement: &Placement, views: &[View; 2], sink: &mut impl RowSink) {
    let attacks = Attacks::of(placement);
    let exchanges =
        (set.states == States::Exchange || set.threats).then(|| StaticExchange::new(placement));
    let pinned = exchanges.as_ref().map_or(BitBoard::EMPTY, |exchanges| exchanges.pinned);
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

fn find_attackers(placement: &Placement, views: &[View; 2], sink: &mut impl RowSink) {
    let occupied = placement.colors[0] | placement.colors[1];
    for color in Color::ALL {
        for piece in Piece::ALL {
            let attackers = placement.pieces[piece as usize] & placement.colors[color as usize];
            let attacked = attackers.into_iter().fold(BitBoard::EMPTY, |attacked, square| {
                attacked | piece_attacks(piece, color, square, occupied)
            });
            let kinds = views.each_ref().map(|view| view.kind(color, piece));
            let squares = views.each_ref().map(|view| view.squares(attacked & occupied));
            sink.attacker(kinds, squares);
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
        let flip = ranks ^ files;
        let bucket = set.king.bucket(Square::index(king as usize ^ flip));
        Self { color, flip, first_piece: set.first_piece(bucket) }
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

    /// Squares in this view.
    fn squares(&self, squares: BitBoard) -> BitBoard {
        let squares = if self.flip & 0o70 == 0 { squares } else { squares.flip_ranks() };
        if self.flip & 0o7 == 0 { squares } else { squares.flip_files() }
    }

    /// Index of a kind of piece: own pieces first, then the other side's.
    fn kind(&self, color: Color, piece: Piece) -> usize {
        usize::from(color != self.color) * Piece::NUM + piece as usize
    }
}
