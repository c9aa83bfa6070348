//! A view's feature sum, updated from position to position: if few rows differ from those of the
//! previous position, as between siblings, only these are subtracted and added.

use azimuth_network::sparse::features::FeatureSet;

use super::kernels::{Kernels, SLOTS, Slots, Sums};

/// Marks a slot without a row.
const EMPTY: u16 = u16::MAX;

/// The sum of the rows of one view.
#[derive(Clone)]
pub(super) struct Accumulator {
    sum: Vec<i16>,
    /// The rows in the sum, each in its slot.
    slots: Slots,
    added: [u16; SLOTS],
    removed: [u16; SLOTS],
}

impl Accumulator {
    /// The sum without rows: the bias.
    pub(super) fn new(bias: &[i16]) -> Self {
        Self { sum: bias.to_vec(), slots: [EMPTY; SLOTS], added: [0; SLOTS], removed: [0; SLOTS] }
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
        // Captures have no slots, because their number is not limited.
        let changes = (!set.captures).then(|| self.exchange(kernels, set.first_threat(), rows));
        match changes {
            Some((added, removed)) if added + removed < rows.len() => {
                let (added, removed) = (&self.added[..added], &self.removed[..removed]);
                kernels.activate(sums, &mut self.sum, added, removed, activations);
            }
            _ => {
                self.sum.copy_from_slice(&sums.bias);
                kernels.activate(sums, &mut self.sum, rows, &[], activations);
            }
        }
    }

    /// Puts `rows` in their slots, lists the rows to add and to remove, and returns the lengths of
    /// both lists.
    fn exchange(&mut self, kernels: Kernels, first_threat: usize, rows: &[u16]) -> (usize, usize) {
        let mut slots = [EMPTY; SLOTS];
        for &row in rows {
            let slot = match usize::from(row) {
                row if row < first_threat => row % 64,
                row => FeatureSet::slot_of_threat(row - first_threat).min(SLOTS - 1),
            };
            slots[slot] = row;
        }
        let mut differing = kernels.differing(&self.slots, &slots);
        let (mut added, mut removed) = (0, 0);
        while differing != 0 {
            let slot = differing.trailing_zeros() as usize % SLOTS;
            let (before, now) = (self.slots[slot], slots[slot]);
            // Branch-free: whether a square was or becomes empty is unpredictable.
            self.added[added] = now;
            added += usize::from(now != EMPTY);
            self.removed[removed] = before;
            removed += usize::from(before != EMPTY);
            differing &= differing - 1;
        }
        self.slots = slots;
        (added, removed)
    }
}
