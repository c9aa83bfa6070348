//! The active features of positions: of many, stored contiguously, or of one, in slots.

use azimuth_chess::placement::Placement;
use cozy_chess::{BitBoard, Board, Color, Square};

use super::feature_set::{FeatureSet, KINDS, PIECE_SQUARES};
use super::rows::{RowSink, find_rows};
use crate::embedding_bag::Bags;

/// The active rows of one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features<'a> {
    /// Rows seen by the side to move.
    pub own: &'a [u16],
    /// Rows seen by the other side, equal in number.
    pub other: &'a [u16],
    /// Number of pieces on the board.
    pub pieces: usize,
    /// The side to move, whose view comes first.
    pub side_to_move: Color,
}

/// The active rows of many positions.
#[derive(Clone, Debug)]
pub struct FeatureBatch {
    set: FeatureSet,
    rows: Vec<u16>,
    /// For each position, the end of its rows, its number of pieces and its side to move.
    ends: Vec<(u32, u8, Color)>,
    /// The other side's rows while a position is added.
    other: Vec<u16>,
    /// The pieces on the squares of its views.
    victims: Box<[[u16; Square::NUM]; 2]>,
}

impl FeatureBatch {
    /// An empty batch for a feature set.
    pub fn new(set: FeatureSet) -> Self {
        let victims = Box::new([[0; Square::NUM]; 2]);
        Self { set, rows: Vec::new(), ends: Vec::new(), other: Vec::new(), victims }
    }

    /// The features of `boards`, which must be legal.
    pub fn of<'a>(set: FeatureSet, boards: impl IntoIterator<Item = &'a Board>) -> Self {
        let mut batch = Self::new(set);
        boards.into_iter().for_each(|board| batch.push(&Placement::of(board)));
        batch
    }

    /// Number of positions.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Empties the batch and keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
    }

    /// The features of every position, in order.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Features<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, pieces, side_to_move)| {
            let rows = &self.rows[start..end as usize];
            start = end as usize;
            let (own, other) = rows.split_at(rows.len() / 2);
            Features { own, other, pieces: pieces.into(), side_to_move }
        })
    }

    /// Every active row of every position, in any order, with repetitions.
    pub fn rows(&self) -> &[u16] {
        &self.rows
    }

    /// The rows of each position as two bags, side to move first.
    pub fn bags(&self) -> Bags {
        let mut ends = Vec::with_capacity(2 * self.len());
        let mut end = 0;
        for features in self.iter() {
            for side in [features.own, features.other] {
                end += side.len() as u32;
                ends.push(end);
            }
        }
        Bags::new(self.rows.clone(), ends)
    }

    /// Adds the positions `range` of `other`, which must have the same feature set.
    pub fn extend(&mut self, other: &Self, range: std::ops::Range<usize>) {
        let end_of = |index: usize| index.checked_sub(1).map_or(0, |last| other.ends[last].0);
        let (first, last) = (end_of(range.start), end_of(range.end));
        let shift = self.rows.len() as u32;
        self.rows.extend_from_slice(&other.rows[first as usize..last as usize]);
        let ends = other.ends[range].iter();
        let ends = ends.map(|&(end, pieces, side)| (end - first + shift, pieces, side));
        self.ends.extend(ends);
    }

    /// A batch of the positions `range`.
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        let mut part = Self::new(self.set);
        part.extend(self, range);
        part
    }

    /// Adds a legal position.
    pub fn push(&mut self, placement: &Placement) {
        self.other.clear();
        find_rows(self.set, placement, self);
        self.rows.extend_from_slice(&self.other);
        let pieces = (placement.colors[0] | placement.colors[1]).len();
        self.ends.push((self.rows.len() as u32, pieces as u8, placement.side_to_move));
    }

    fn push_rows(&mut self, [own, other]: [u16; 2]) {
        self.rows.push(own);
        self.other.push(other);
    }
}

impl RowSink for FeatureBatch {
    fn piece(&mut self, rows: [u16; 2], squares: [usize; 2]) {
        for view in [0, 1] {
            self.victims[view][squares[view]] = rows[view] % PIECE_SQUARES as u16;
        }
        self.push_rows(rows);
    }

    fn threat(&mut self, _index: usize, rows: [u16; 2]) {
        self.push_rows(rows);
    }

    fn attacker(&mut self, kinds: [usize; 2], squares: [BitBoard; 2]) {
        let Self { set, rows, other, victims, .. } = self;
        for (view, rows) in [rows, other].into_iter().enumerate() {
            rows.extend(squares[view].into_iter().map(|square| {
                set.attacker_row(kinds[view], victims[view][square as usize].into()) as u16
            }));
        }
    }
}

/// Marks a slot without a row.
pub const EMPTY: u16 = u16::MAX;

/// Number of slots of one view: 64 squares and up to six threats. They fill a whole number of
/// 64-byte registers.
pub const SLOTS: usize = 96;

/// The row in each slot of a view, or [`EMPTY`].
pub type Slots = [u16; SLOTS];

/// The occupied squares that each kind of piece attacks.
pub type Attacked = [u64; KINDS];

/// The active rows of one view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewRows {
    /// The rows in slots.
    pub slots: Slots,
    /// The attacked squares, for the rows of attackers; empty if the set has none.
    pub attacked: Attacked,
}

impl ViewRows {
    /// No rows.
    pub const NONE: Self = Self { slots: [EMPTY; SLOTS], attacked: [0; KINDS] };
}

/// The active rows of one position in slots. A view has a slot for each square and for each threat,
/// and a slot holds at most one row, so that the difference of two positions is found slot by slot.
/// Rows of attackers have no slots: they follow from the attacked squares and the pieces on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlottedFeatures {
    /// The views of the side to move and of the other side.
    pub views: [ViewRows; 2],
    /// Number of rows in each view.
    pub rows: usize,
    /// Number of pieces on the board.
    pub pieces: usize,
    /// The side to move.
    pub side_to_move: Color,
}

impl SlottedFeatures {
    /// No features yet.
    pub const NONE: Self = Self {
        views: [ViewRows::NONE, ViewRows::NONE],
        rows: 0,
        pieces: 0,
        side_to_move: Color::White,
    };

    /// Makes these the features of a legal position.
    pub fn fill(&mut self, set: FeatureSet, placement: &Placement) {
        let pieces = (placement.colors[0] | placement.colors[1]).len() as usize;
        let threats = if set.threats { FeatureSet::THREATS_SEEN as usize } else { 0 };
        self.views = [ViewRows::NONE, ViewRows::NONE];
        (self.rows, self.pieces) = (pieces + threats, pieces);
        self.side_to_move = placement.side_to_move;
        find_rows(set, placement, self);
    }

    /// The features of a position of a batch.
    pub fn from_rows(set: FeatureSet, features: &Features<'_>) -> Self {
        let Features { own, other, pieces, side_to_move } = *features;
        let in_slots = |rows: &[u16]| {
            let mut view = ViewRows::NONE;
            for &row in rows {
                match set.attacker(row.into()) {
                    None => view.slots[set.slot(row.into())] = row,
                    Some((kind, victim)) => view.attacked[kind] |= 1 << (victim % Square::NUM),
                }
            }
            view
        };
        let views = [in_slots(own), in_slots(other)];
        Self { views, rows: own.len(), pieces, side_to_move }
    }
}

impl RowSink for SlottedFeatures {
    #[inline]
    fn piece(&mut self, rows: [u16; 2], squares: [usize; 2]) {
        for view in [0, 1] {
            self.views[view].slots[squares[view]] = rows[view];
        }
    }

    #[inline]
    fn threat(&mut self, index: usize, rows: [u16; 2]) {
        for view in [0, 1] {
            self.views[view].slots[FeatureSet::threat_slot(index, view)] = rows[view];
        }
    }

    #[inline]
    fn attacker(&mut self, kinds: [usize; 2], squares: [BitBoard; 2]) {
        for view in [0, 1] {
            self.views[view].attacked[kinds[view]] = squares[view].0;
        }
        self.rows += squares[0].len() as usize;
    }
}

#[cfg(test)]
mod tests {
    use azimuth_chess::bench_positions::BENCH_POSITIONS;

    use super::*;

    #[test]
    fn slots_hold_the_rows_of_a_batch() {
        for name in [
            "piece-square",
            "exchange-states-16+king-buckets-4+threats",
            "piece-square+king-buckets-10+attackers",
        ] {
            let set: FeatureSet = name.parse().expect("a set");
            for fen in BENCH_POSITIONS {
                let board: Board = fen.parse().expect("a position");
                let mut found = SlottedFeatures::NONE;
                found.fill(set, &Placement::of(&board));
                let batch = FeatureBatch::of(set, [&board]);
                for features in batch.iter() {
                    assert_eq!(found, SlottedFeatures::from_rows(set, &features), "{fen}");
                    for (view, rows) in found.views.iter().zip([features.own, features.other]) {
                        let mut held: Vec<u16> =
                            view.slots.iter().copied().filter(|&row| row != EMPTY).collect();
                        let attackers =
                            rows.iter().filter(|&&row| set.attacker(row.into()).is_some());
                        let bits: u32 =
                            view.attacked.iter().map(|squares| squares.count_ones()).sum();
                        assert_eq!(attackers.clone().count(), bits as usize, "{fen}");
                        held.extend(attackers);
                        let mut expected = rows.to_vec();
                        held.sort_unstable();
                        expected.sort_unstable();
                        assert_eq!(held, expected, "{fen}");
                    }
                }
            }
        }
    }
}
