//! The input features of the sparse encoder: every piece on its square with its state, such as its
//! attackers and defenders (see [`FeatureSet`]). Each position has a view for each side, with that
//! side's first rank at the bottom. Here are the active features of many positions, stored
//! contiguously.

mod feature_set;
mod rows;
mod states;

use azimuth_chess::placement::Placement;
use cozy_chess::{Board, Color};
use rows::find_rows;

use crate::embedding_bag::Bags;

pub use feature_set::{FeatureSet, KingView, PIECE_SQUARES, States};
pub use rows::{Changes, PieceMap, RowChanges, RowList, View};

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
}

impl FeatureBatch {
    /// An empty batch for a feature set.
    pub fn new(set: FeatureSet) -> Self {
        Self { set, rows: Vec::new(), ends: Vec::new(), other: Vec::new() }
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
        let Self { set, rows, other, .. } = self;
        other.clear();
        find_rows(*set, placement, |[ours, theirs]| {
            rows.push(ours as u16);
            other.push(theirs as u16);
        });
        rows.append(other);
        let pieces = (placement.colors[0] | placement.colors[1]).len();
        self.ends.push((self.rows.len() as u32, pieces as u8, placement.side_to_move));
    }
}
