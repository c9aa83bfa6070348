//! The feature sums of one side's view, each made from the sum of a similar position: only the rows
//! that differ are subtracted and added. Also the order of the sum's units.

use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_network::sparse::features::{
    FeatureBatch, FeatureSet, Features, PieceMap, RowChanges, View,
};
use cozy_chess::Board;

use super::kernels::{Kernels, Sums};

/// Number of plies whose last sums are kept. The parent of a position is one move away, its
/// siblings two.
const PLIES: usize = 32;

/// The sums of one side, for a set without states: of the last position of each ply of the game,
/// then of the last position in each view. A move of the king to another bucket changes the rows of
/// all pieces; the sum is then made from the last one in the new view.
#[derive(Clone)]
pub struct Accumulators {
    kept: Vec<Accumulator>,
    /// Index of the sum that was prepared last.
    current: usize,
    /// Index of the sum of its view, if it was made from that.
    from_view: Option<usize>,
    changes: RowChanges,
}

/// The sum of a position in a view.
#[derive(Clone)]
struct Accumulator {
    sum: Vec<i16>,
    map: PieceMap,
    view: Option<View>,
}

impl Accumulators {
    /// Sums of a side without pieces: the bias.
    pub fn new(set: FeatureSet, bias: &[i16]) -> Self {
        let none = Accumulator { sum: bias.to_vec(), map: PieceMap::NONE, view: None };
        let kept = vec![none; PLIES + set.views()];
        Self { kept, current: 0, from_view: None, changes: RowChanges::NONE }
    }

    /// Finds the rows to add and to remove so that the sum of `ply` is that of `map` in `view`, and
    /// fetches them into the processor's cache.
    pub fn prepare(&mut self, sums: &Sums, map: &PieceMap, view: View, ply: usize) {
        let here = ply % PLIES;
        let parent = (here + PLIES - 1) % PLIES;
        let of_view = PLIES + view.index();
        let with_view = [here, parent].into_iter().filter(|&ply| self.kept[ply].view == Some(view));
        let nearest = with_view.min_by_key(|&ply| self.kept[ply].map.differing(map));
        self.current = here;
        self.from_view = nearest.is_none().then_some(of_view);
        self.copy(nearest.unwrap_or(of_view), here);
        let Self { kept, changes, .. } = self;
        let accumulator = &mut kept[here];
        changes.set_difference(&view, &accumulator.map, map);
        accumulator.map.clone_from(map);
        accumulator.view = Some(view);
        sums.prefetch(changes);
    }

    /// Makes the sum that of the prepared rows, and writes its activations.
    pub fn activate(&mut self, kernels: Kernels, sums: &Sums, activations: &mut [u8]) {
        let sum = &mut self.kept[self.current].sum;
        kernels.activate(sums, sum, &self.changes, activations);
        if let Some(of_view) = self.from_view {
            self.copy(self.current, of_view);
        }
    }

    fn copy(&mut self, from: usize, to: usize) {
        if let Ok([from, to]) = self.kept.get_disjoint_mut([from, to]) {
            to.sum.copy_from_slice(&from.sum);
            to.map.clone_from(&from.map);
            to.view = from.view;
        }
    }
}

/// Sums all rows of a position.
#[derive(Clone)]
pub struct SumOfRows {
    changes: RowChanges,
    sum: Vec<i16>,
}

impl SumOfRows {
    pub fn new(bias: &[i16]) -> Self {
        Self { changes: RowChanges::NONE, sum: bias.to_vec() }
    }

    /// Writes the activations of both views.
    pub fn activate(
        &mut self,
        kernels: Kernels,
        sums: &Sums,
        features: &Features<'_>,
        activations: &mut [u8],
    ) {
        let Self { changes, sum } = self;
        let rows_of_pieces = sums.table.len() / sums.bias.len();
        let halves = activations.chunks_exact_mut(sum.len());
        for (rows, activations) in [features.own, features.other].into_iter().zip(halves) {
            changes.set_rows(rows, rows_of_pieces);
            sums.prefetch(changes);
            sum.copy_from_slice(&sums.bias);
            kernels.activate(sums, sum, changes, activations);
        }
    }
}

/// The units, ordered by the number of views of a sample of positions in which they are active,
/// fewest first. The kernels skip groups of units that are all zero; with rarely active units side
/// by side, a third fewer groups are left to multiply, and the products stay the same.
pub fn by_activity(kernels: Kernels, set: FeatureSet, sums: &Sums) -> Vec<usize> {
    let width = sums.bias.len();
    let mut activations = vec![0; 2 * width];
    let mut active = vec![0; width];
    let boards: Vec<Board> = BENCH_POSITIONS.iter().filter_map(|fen| fen.parse().ok()).collect();
    let mut sum_of_rows = SumOfRows::new(&sums.bias);
    for features in FeatureBatch::of(set, &boards).iter() {
        sum_of_rows.activate(kernels, sums, &features, &mut activations);
        for activations in activations.chunks_exact(width) {
            let units = active.iter_mut().zip(activations);
            units.for_each(|(count, &unit)| *count += i32::from(unit != 0));
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
        let table = vec![0; set.rows() * bias.len()];
        let sums = Sums { table, attackers: Vec::new(), bias };
        for kernels in Kernels::available() {
            let order = by_activity(kernels, set, &sums);
            assert_eq!(order[126..], [3, 100], "{kernels:?}");
            let mut sorted = order;
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..128));
        }
    }
}
