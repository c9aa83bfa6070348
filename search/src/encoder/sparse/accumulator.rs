//! A view's feature sum, updated from position to position: if few rows differ from those of the
//! previous position, as between siblings, only these are subtracted and added. Also the order of
//! the sum's units.

use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_network::sparse::features::{EMPTY, FeatureBatch, FeatureSet, SLOTS, Slots};
use cozy_chess::Board;

use super::kernels::{Kernels, Sums};

/// The sum of the rows of one view.
#[derive(Clone)]
pub struct Accumulator {
    sum: Vec<i16>,
    /// The rows in the sum, each in its slot.
    slots: Slots,
    added: RowList,
    removed: RowList,
}

impl Accumulator {
    /// The sum without rows: the bias.
    pub fn new(bias: &[i16]) -> Self {
        let (sum, slots) = (bias.to_vec(), [EMPTY; SLOTS]);
        Self { sum, slots, added: RowList::NONE, removed: RowList::NONE }
    }

    /// Finds the rows to add and to remove so that the sum is that of the `rows` rows in `slots`,
    /// and fetches them into the processor's cache.
    pub fn prepare(&mut self, kernels: Kernels, sums: &Sums, slots: &Slots, rows: usize) {
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
    pub fn activate(&mut self, kernels: Kernels, sums: &Sums, activations: &mut [u8]) {
        let (added, removed) = (self.added.as_slice(), self.removed.as_slice());
        kernels.activate(sums, &mut self.sum, added, removed, activations);
    }
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

/// The units, ordered by the number of views of a sample of positions in which they are active,
/// fewest first. The kernels skip groups of units that are all zero; with rarely active units side
/// by side, a third fewer groups are left to multiply, and the products stay the same.
pub fn by_activity(kernels: Kernels, set: FeatureSet, sums: &Sums) -> Vec<usize> {
    let width = sums.bias.len();
    let mut activations = vec![0; width];
    let mut active = vec![0; width];
    let boards: Vec<Board> = BENCH_POSITIONS.iter().filter_map(|fen| fen.parse().ok()).collect();
    for position in FeatureBatch::of(set, &boards).iter() {
        for view in [position.own, position.other] {
            kernels.activate(sums, &mut sums.bias.clone(), view, &[], &mut activations);
            active
                .iter_mut()
                .zip(&activations)
                .for_each(|(count, &unit)| *count += i32::from(unit != 0));
        }
    }
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by_key(|&unit| active[unit]);
    order
}

/// Puts the values of every row (`[_][order.len()]`) in this order.
pub fn reorder<T: Copy>(rows: &mut [T], order: &[usize]) {
    let mut before = Vec::with_capacity(order.len());
    for row in rows.chunks_exact_mut(order.len()) {
        before.clear();
        before.extend_from_slice(row);
        row.iter_mut().zip(order).for_each(|(value, &unit)| *value = before[unit]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_are_seldom_active_come_first() {
        let set: FeatureSet = "piece-square".parse().expect("a set");
        let mut bias = vec![0; 128];
        bias[3] = 255;
        bias[100] = 255;
        let sums = Sums { table: vec![0; set.rows() * bias.len()], bias };
        for kernels in Kernels::available() {
            let order = by_activity(kernels, set, &sums);
            assert_eq!(order[126..], [3, 100], "{kernels:?}");
            let mut sorted = order;
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..128));
        }
    }

    #[test]
    fn every_row_comes_into_the_same_order() {
        let mut rows = [10, 11, 12, 20, 21, 22];
        reorder(&mut rows, &[2, 0, 1]);
        assert_eq!(rows, [12, 10, 11, 22, 20, 21]);
    }
}
