//! A view's feature sum, kept from position to position: where few rows differ from those of the one
//! before, as between siblings, only these are taken out and added.

use super::features::FeatureSet;
use super::kernels::{Kernels, Sums};

/// A square's piece has one row, and so has each of up to six threats.
/// More room than that makes places cheap to check.
const SLOTS: usize = 128;

/// The sum of the rows of one view.
#[derive(Clone)]
pub(super) struct Accumulator {
    sum: Vec<i16>,
    /// The rows in the sum by their slots, where `filled` has the slot's bit.
    rows: [u16; SLOTS],
    filled: u128,
    added: [u16; SLOTS],
    removed: [u16; SLOTS],
    /// How many of either there are.
    changes: (usize, usize),
}

impl Accumulator {
    /// The sum of no rows.
    pub(super) fn new(bias: &[i16]) -> Self {
        Self {
            sum: bias.to_vec(),
            rows: [0; SLOTS],
            filled: 0,
            added: [0; SLOTS],
            removed: [0; SLOTS],
            changes: (0, 0),
        }
    }

    /// Makes this the sum of `rows` and writes its activations.
    pub(super) fn activate(
        &mut self,
        kernels: Kernels,
        sums: &Sums,
        set: FeatureSet,
        rows: &[u16],
        activations: &mut [u8],
    ) {
        // Captures have no slots: there may be any number of them.
        let differs_little = !set.captures && self.exchange(set.first_threat(), rows);
        if differs_little {
            let (added, removed) = self.changes;
            let (added, removed) = (&self.added[..added], &self.removed[..removed]);
            kernels.activate(sums, &mut self.sum, added, removed, activations);
        } else {
            self.sum.copy_from_slice(&sums.bias);
            kernels.activate(sums, &mut self.sum, rows, &[], activations);
        }
    }

    /// Puts `rows` in their slots and lists what that adds and removes; whether it is less than all.
    fn exchange(&mut self, first_threat: usize, rows: &[u16]) -> bool {
        // Without branches: which rows differ cannot be foreseen.
        let (mut added, mut removed) = (0, 0);
        let mut filled = 0u128;
        for &row in rows {
            let row_number = usize::from(row);
            let threat = FeatureSet::slot_of_threat(row_number.wrapping_sub(first_threat));
            let slot = if row_number < first_threat { row_number % 64 } else { threat } % SLOTS;
            let before = std::mem::replace(&mut self.rows[slot], row);
            let was_filled = (self.filled >> slot) as usize & 1;
            filled |= 1 << slot;
            let same = usize::from(before == row) & was_filled;
            self.added[added % SLOTS] = row;
            added += 1 - same;
            self.removed[removed % SLOTS] = before;
            removed += was_filled - same;
        }
        let mut emptied = self.filled & !filled;
        while emptied != 0 {
            self.removed[removed % SLOTS] = self.rows[emptied.trailing_zeros() as usize % SLOTS];
            removed += 1;
            emptied &= emptied - 1;
        }
        self.filled = filled;
        (self.changes.0, self.changes.1) = (added, removed);
        added + removed < rows.len()
    }
}
