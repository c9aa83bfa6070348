//! The active rows of one position in the views of both sides.

use azimuth_chess::placement::{Placement, piece_attacks};
use azimuth_chess::see::StaticExchange;
use cozy_chess::{BitBoard, Color, File, Piece, Square};

use super::feature_set::{FeatureSet, KINDS, KingView, PIECE_SQUARES, States};
use super::states::{Attacks, ExchangeStates, Threats};

/// The board from one side's view, with that side's first rank at the bottom: computes the rows of
/// the features in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    color: Color,
    /// XOR mask of squares: reverses the ranks for Black, and the files if the king requires it.
    flip: usize,
    bucket: usize,
    first_piece: usize,
}

impl View {
    /// The view of `color`.
    #[inline]
    pub fn new(set: FeatureSet, placement: &Placement, color: Color) -> Self {
        let ranks = if color == Color::White { 0 } else { 0o70 };
        let king = placement.king(color);
        let files = if set.king != KingView::None && king.file() > File::D { 7 } else { 0 };
        let flip = ranks ^ files;
        let bucket = set.king.bucket(Square::index(king as usize ^ flip));
        Self { color, flip, bucket, first_piece: set.first_piece(bucket) }
    }

    /// The index of this view among those of its side, below [`FeatureSet::views`].
    pub fn index(&self) -> usize {
        2 * self.bucket + usize::from(self.flip & 7 != 0)
    }

    /// A square in this view.
    pub fn square(&self, square: usize) -> usize {
        square ^ self.flip
    }

    /// The row of a kind of piece in state 0. A state adds [`PIECE_SQUARES`] rows.
    fn piece(&self, kind: usize, square: usize) -> usize {
        self.first_piece + self.piece_square(kind, square)
    }

    /// The row of a kind of attacker and the piece that it attacks, among the rows of attackers.
    fn attacker(&self, attacker: usize, piece: usize, square: usize) -> usize {
        self.relative(attacker) * PIECE_SQUARES + self.piece_square(piece, square)
    }

    fn piece_square(&self, kind: usize, square: usize) -> usize {
        self.relative(kind) * Square::NUM + self.square(square)
    }

    /// Index of a kind of piece: own pieces first, then the other side's.
    fn relative(&self, kind: usize) -> usize {
        usize::from(RELATIVE[self.color as usize][kind])
    }
}

/// For each side, the indices of the kinds of pieces in its view.
const RELATIVE: [[u8; KINDS]; Color::NUM] =
    [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5]];

/// Index of a kind of piece: White's, then Black's.
fn kind(color: Color, piece: Piece) -> usize {
    color as usize * Piece::NUM + piece as usize
}

/// The pieces of a position, and the occupied squares that each kind of piece attacks: all that the
/// rows of a set without states depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceMap {
    squares: [u64; KINDS],
    /// Empty if the set has no attackers.
    attacked: [u64; KINDS],
    /// The kinds of the pieces on occupied squares.
    kinds: [u8; Square::NUM],
}

impl PieceMap {
    /// No pieces.
    pub const NONE: Self =
        Self { squares: [0; KINDS], attacked: [0; KINDS], kinds: [0; Square::NUM] };

    /// The map of a legal position.
    #[inline]
    pub fn of(set: FeatureSet, placement: &Placement) -> Self {
        let mut map = Self::NONE;
        let occupied = placement.colors[0] | placement.colors[1];
        for color in Color::ALL {
            for piece in Piece::ALL {
                let kind = kind(color, piece);
                let squares = placement.pieces[piece as usize] & placement.colors[color as usize];
                map.squares[kind] = squares.0;
                let mut attacked = BitBoard::EMPTY;
                for square in squares {
                    map.kinds[square as usize] = kind as u8;
                    if set.attackers {
                        attacked |= piece_attacks(piece, color, square, occupied);
                    }
                }
                map.attacked[kind] = (attacked & occupied).0;
            }
        }
        map
    }

    /// Number of squares with another piece in `other`.
    #[inline]
    pub fn differing(&self, other: &Self) -> u32 {
        let pairs = self.squares.iter().zip(&other.squares);
        pairs.fold(0, |differing, (one, other)| differing | one ^ other).count_ones()
    }
}

/// Rows to add to a feature sum and to subtract from it. Rows of attackers are apart, and count
/// from the first of them.
#[derive(Clone, Debug)]
pub struct RowChanges {
    /// Rows of pieces and threats.
    pub pieces: Changes<{ 2 * Square::NUM }>,
    /// Rows of attackers: at most one for each kind and square.
    pub attackers: Changes<{ KINDS * Square::NUM }>,
}

impl RowChanges {
    /// No changes.
    pub const NONE: Self = Self { pieces: Changes::NONE, attackers: Changes::NONE };

    /// Adds all `rows` of a view, as a batch holds them. Those from `first_attacker` on are rows
    /// of attackers.
    pub fn set_rows(&mut self, rows: &[u16], first_attacker: usize) {
        self.clear();
        for &row in rows {
            match usize::from(row).checked_sub(first_attacker) {
                None => self.pieces.added.push(row.into()),
                Some(attacker) => self.attackers.added.push(attacker),
            }
        }
    }

    /// The changes in a `view` from one position to another, for a set without states.
    #[inline]
    pub fn set_difference(&mut self, view: &View, before: &PieceMap, now: &PieceMap) {
        self.clear();
        let mut replaced = 0;
        for kind in 0..KINDS {
            let [was, is] = [before, now].map(|map| map.squares[kind]);
            let first = view.first_piece + view.relative(kind) * Square::NUM;
            let row = |square| first + view.square(square);
            self.pieces.added.push_each(is & !was, row);
            self.pieces.removed.push_each(was & !is, row);
            replaced |= was ^ is;
        }
        for kind in 0..KINDS {
            let [was, is] = [before, now].map(|map| map.attacked[kind]);
            let changed = (was ^ is) | replaced;
            let first = view.relative(kind) * PIECE_SQUARES;
            let row = |map: &PieceMap, square: usize| {
                first + view.piece_square(map.kinds[square].into(), square)
            };
            self.attackers.added.push_each(is & changed, |square| row(now, square));
            self.attackers.removed.push_each(was & changed, |square| row(before, square));
        }
    }

    fn clear(&mut self) {
        self.pieces.clear();
        self.attackers.clear();
    }
}

/// Rows of one table to add and to subtract, at most N of each.
#[derive(Clone, Debug)]
pub struct Changes<const N: usize> {
    /// Rows to add.
    pub added: RowList<N>,
    /// Rows to subtract.
    pub removed: RowList<N>,
}

impl<const N: usize> Changes<N> {
    const NONE: Self = Self { added: RowList::NONE, removed: RowList::NONE };

    fn clear(&mut self) {
        (self.added.len, self.removed.len) = (0, 0);
    }
}

/// At most N rows.
#[derive(Clone, Debug)]
pub struct RowList<const N: usize> {
    rows: [u16; N],
    len: usize,
}

impl<const N: usize> RowList<N> {
    const NONE: Self = Self { rows: [0; N], len: 0 };

    /// Appends a row. Panics if the list is full.
    #[inline]
    pub fn push(&mut self, row: usize) {
        self.rows[self.len] = row as u16;
        self.len += 1;
    }

    /// Appends the `row` of each square. Panics if the list is full.
    #[inline]
    fn push_each(&mut self, squares: u64, row: impl Fn(usize) -> usize) {
        // The compiler keeps a local length in a register.
        let mut len = self.len;
        for_each_square(squares, |square| {
            self.rows[len] = row(square) as u16;
            len += 1;
        });
        self.len = len;
    }

    /// The rows.
    #[inline]
    pub fn as_slice(&self) -> &[u16] {
        &self.rows[..self.len]
    }
}

fn for_each_square(mut squares: u64, mut f: impl FnMut(usize)) {
    while squares != 0 {
        f(squares.trailing_zeros() as usize);
        squares &= squares - 1;
    }
}

/// Finds the rows of a legal position, those of the side to move first in each pair: of pieces,
/// threats and attackers, in this order.
pub fn find_rows(set: FeatureSet, placement: &Placement, mut add: impl FnMut([usize; 2])) {
    let us = placement.side_to_move;
    let views = [us, !us].map(|color| View::new(set, placement, color));
    if set.has_states() {
        find_states(set, placement, &views, &mut add);
        if !set.attackers {
            return;
        }
    }
    let map = PieceMap::of(set, placement);
    if !set.has_states() {
        for (kind, &squares) in map.squares.iter().enumerate() {
            for_each_square(squares, |square| add(views.map(|view| view.piece(kind, square))));
        }
    }
    let first = set.first_attacker();
    for (kind, &squares) in map.attacked.iter().enumerate() {
        for_each_square(squares, |square| {
            let piece = map.kinds[square].into();
            add(views.map(|view| first + view.attacker(kind, piece, square)));
        });
    }
}

/// Pieces with their states, and threats.
fn find_states(
    set: FeatureSet,
    placement: &Placement,
    views: &[View; 2],
    add: &mut impl FnMut([usize; 2]),
) {
    let attacks = Attacks::of(placement);
    let exchanges =
        (set.states == States::Exchange || set.threats).then(|| StaticExchange::new(placement));
    let pinned = exchanges.as_ref().map_or(BitBoard::EMPTY, |exchanges| exchanges.pinned);
    let mut threats = Threats::default();
    for color in Color::ALL {
        let states = ExchangeStates::new(placement, &attacks, pinned, color);
        let enemies_attack = attacks.by(!color).any;
        for piece in Piece::ALL {
            for square in placement.pieces[piece as usize] & placement.colors[color as usize] {
                let exchanges = exchanges.as_ref().filter(|_| enemies_attack.has(square));
                let gain = exchanges.and_then(|exchanges| exchanges.see_on(square, piece, color));
                if let Some(gain) = gain {
                    threats.add(!color, gain);
                }
                let state = match set.states {
                    States::PieceSquare => 0,
                    States::Exchange => states.of(piece, square, gain),
                };
                let first = state * PIECE_SQUARES;
                let kind = kind(color, piece);
                add(views.map(|view| first + view.piece(kind, square as usize)));
            }
        }
    }
    if set.threats {
        for (index, pair) in threats.pairs(placement, &attacks).into_iter().enumerate() {
            add([0, 1].map(|view| set.threat_row(index, view, pair)));
        }
    }
}
