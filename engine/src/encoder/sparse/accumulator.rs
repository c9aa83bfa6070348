//! A view's feature sum, updated from position to position: if few rows differ from those of the
//! previous position, as between siblings, only these are subtracted and added.

use azimuth_network::sparse::features::{EMPTY, SLOTS, Slots};

use super::kernels::{Kernels, Sums};

/// The sum of the rows of one view.
#[derive(Clone)]
pub(super) struct Accumulator {
    sum: Vec<i16>,
    /// The rows in the sum, each in its slot.
    slots: Slots,
    added: RowList,
    removed: RowList,
}

/// Rows to add or to remove, at most one for each slot.
#[derive(Clone)]
struct RowList {
    rows: [u16; SLOTS],
    len: usize,
}

impl RowList {
    const NONE: Self = Self { rows: [0; SLOTS], len: 0 };

    /// Appends `row` unless it is [`EMPTY`]. Branch-free: whether a square was or becomes empty is
    /// unpredictable.
    fn push(&mut self, row: u16) {
        self.rows[self.len] = row;
        self.len += usize::from(row != EMPTY);
    }

    fn as_slice(&self) -> &[u16] {
        &self.rows[..self.len]
    }
}

impl Accumulator {
    /// The sum without rows: the bias.
    pub(super) fn new(bias: &[i16]) -> Self {
        let (sum, slots) = (bias.to_vec(), [EMPTY; SLOTS]);
        Self { sum, slots, added: RowList::NONE, removed: RowList::NONE }
    }

    /// Finds the rows to add and to remove so that the sum is that of the `rows` rows in `slots`,
    /// and fetches them into the processor's cache.
    pub(super) fn prepare(&mut self, kernels: Kernels, sums: &Sums, slots: &Slots, rows: usize) {
        (self.added.len, self.removed.len) = (0, 0);
        let differing = kernels.differing(&self.slots, slots);
        let mut exchange = |first: usize, mut differing: u64| {
            while differing != 0 {
                let slot = first + differing.trailing_zeros() as usize;
                self.added.push(slots[slot]);
                self.removed.push(self.slots[slot]);
                differing &= differing - 1;
            }
        };
        exchange(0, differing as u64);
        exchange(64, (differing >> 64) as u64);
        if self.added.len + self.removed.len >= rows {
            self.sum.copy_from_slice(&sums.bias);
            (self.added.len, self.removed.len) = (0, 0);
            slots.iter().for_each(|&row| self.added.push(row));
        }
        self.slots = *slots;
        sums.prefetch(self.added.as_slice());
        sums.prefetch(self.removed.as_slice());
    }

    /// Makes the sum that of the prepared rows, and writes its activations.
    pub(super) fn activate(&mut self, kernels: Kernels, sums: &Sums, activations: &mut [u8]) {
        let (added, removed) = (self.added.as_slice(), self.removed.as_slice());
        kernels.activate(sums, &mut self.sum, added, removed, activations);
    }

    /// Makes this the sum of any number of `rows`, which have no slots, and writes its activations.
    pub(super) fn activate_rows(
        &mut self,
        kernels: Kernels,
        sums: &Sums,
        rows: &[u16],
        activations: &mut [u8],
    ) {
        self.sum.copy_from_slice(&sums.bias);
        kernels.activate(sums, &mut self.sum, rows, &[], activations);
    }
}
