//! The active rows of one position in slots. A view has a slot for each square and for each threat,
//! and a slot holds at most one row, so that the difference of two positions is found slot by slot.

use azimuth_chess::placement::Placement;
use cozy_chess::Color;

use super::batch::Features;
use super::feature_set::FeatureSet;
use super::rows::{RowSink, find_rows};

/// Number of slots of one view: 64 squares and up to six threats. They fill a whole number of
/// 64-byte registers.
pub const SLOTS: usize = 96;

/// The row in each slot of a view, or [`EMPTY`].
pub type Slots = [u16; SLOTS];

/// Marks a slot without a row.
pub const EMPTY: u16 = u16::MAX;

/// The active rows of one position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlottedFeatures {
    /// The views of the side to move and of the other side.
    pub views: [Slots; 2],
    /// Number of rows in each view.
    pub rows: usize,
    /// Number of pieces on the board.
    pub pieces: usize,
    /// The side to move.
    pub side_to_move: Color,
}

impl SlottedFeatures {
    /// No features yet.
    pub const NONE: Self =
        Self { views: [[EMPTY; SLOTS]; 2], rows: 0, pieces: 0, side_to_move: Color::White };

    /// Makes these the features of a legal position.
    pub fn fill(&mut self, set: FeatureSet, placement: &Placement) {
        let pieces = (placement.colors[0] | placement.colors[1]).len() as usize;
        let threats = if set.threats { FeatureSet::THREATS_SEEN as usize } else { 0 };
        self.views = [[EMPTY; SLOTS]; 2];
        (self.rows, self.pieces) = (pieces + threats, pieces);
        self.side_to_move = placement.side_to_move;
        find_rows(set, placement, self);
    }

    /// The features of a position of a batch.
    pub fn from_rows(set: FeatureSet, features: &Features<'_>) -> Self {
        let Features { own, other, pieces, side_to_move } = *features;
        let in_slots = |rows: &[u16]| {
            let mut slots = [EMPTY; SLOTS];
            for &row in rows {
                slots[set.slot(row.into())] = row;
            }
            slots
        };
        Self { views: [in_slots(own), in_slots(other)], rows: own.len(), pieces, side_to_move }
    }
}

impl RowSink for SlottedFeatures {
    #[inline]
    fn piece(&mut self, rows: [u16; 2], squares: [usize; 2]) {
        for view in [0, 1] {
            self.views[view][squares[view]] = rows[view];
        }
    }

    #[inline]
    fn threat(&mut self, index: usize, rows: [u16; 2]) {
        for view in [0, 1] {
            self.views[view][FeatureSet::threat_slot(index, view)] = rows[view];
        }
    }
}

#[cfg(test)]
mod tests {
    use azimuth_chess::bench_positions::BENCH_POSITIONS;
    use cozy_chess::Board;

    use super::super::FeatureBatch;
    use super::*;

    #[test]
    fn slots_hold_the_rows_of_a_batch() {
        for name in ["piece-square", "exchange-states-16+king-buckets-4+threats"] {
            let set: FeatureSet = name.parse().expect("a set");
            for fen in BENCH_POSITIONS {
                let board: Board = fen.parse().expect("a position");
                let mut found = SlottedFeatures::NONE;
                found.fill(set, &Placement::of(&board));
                let batch = FeatureBatch::of(set, [&board]);
                for features in batch.iter() {
                    assert_eq!(found, SlottedFeatures::from_rows(set, &features), "{fen}");
                    for (slots, rows) in found.views.iter().zip([features.own, features.other]) {
                        let mut held: Vec<u16> =
                            slots.iter().copied().filter(|&row| row != EMPTY).collect();
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
