//! Late move reductions before adjustments, precomputed for every depth and move count.

use super::parameters::{LMR_ONE_PLY, SearchParameters};

/// Number of depths and of move counts in the table; larger ones use the last slot.
const LOGARITHMS: usize = 64;

/// Reductions by depth and move count.
pub(super) struct LateMoveTable(Vec<i32>);

impl LateMoveTable {
    /// The table of `lmr_base` plus the product of the logarithms of depth and move count divided
    /// by `lmr_divisor`.
    pub(super) fn new(parameters: &SearchParameters) -> Self {
        let [base, divisor] =
            [parameters.lmr_base, parameters.lmr_divisor].map(|n| f64::from(n) / 100.0);
        let logarithm = |number: usize| (number.max(1) as f64).ln();
        let of = |depth, count| base + logarithm(depth) * logarithm(count) / divisor;
        let all = 0..LOGARITHMS * LOGARITHMS;
        let plies = all.map(|index| of(index / LOGARITHMS, index % LOGARITHMS));
        Self(plies.map(|plies| (plies * f64::from(LMR_ONE_PLY)) as i32).collect())
    }

    /// The reduction of a move, in 1,024ths of a ply; `move_count` starts at 1.
    pub(super) fn reduction(&self, depth: i32, move_count: i32) -> i32 {
        let within = |number: i32| (number.max(0) as usize).min(LOGARITHMS - 1);
        self.0[within(depth) * LOGARITHMS + within(move_count)]
    }
}
