//! The order of the units of the feature sums. Kernels skip groups of units that are all zero.
//! Placing rarely active units side by side leaves a third fewer groups to multiply; the products
//! stay the same.

use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_network::sparse::features::{FeatureBatch, FeatureSet};
use cozy_chess::Board;

use super::accumulator::Accumulator;
use super::kernels::{Kernels, Sums};

/// The units, ordered by the number of views of a sample of positions in which they are active,
/// fewest first.
pub(super) fn by_activity(kernels: Kernels, set: FeatureSet, sums: &Sums) -> Vec<usize> {
    let width = sums.bias.len();
    let mut accumulator = Accumulator::new(&sums.bias);
    let mut activations = vec![0; width];
    let mut active = vec![0; width];
    let boards: Vec<Board> = BENCH_POSITIONS.iter().filter_map(|fen| fen.parse().ok()).collect();
    for position in FeatureBatch::of(set, &boards).iter() {
        for view in [position.own, position.other] {
            accumulator.activate_rows(kernels, sums, view, &mut activations);
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
pub(super) fn reorder<T: Copy>(rows: &mut [T], order: &[usize]) {
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
