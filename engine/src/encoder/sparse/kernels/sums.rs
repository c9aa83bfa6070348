//! The data of the kernels: the table of feature rows, its scale, and the rows that change a sum.

use super::BLOCK;
use crate::hash_slot::prefetch;

/// Values in a line of the processor's cache.
const LINE: usize = 32;

/// 1.0 in a feature sum.
pub(in crate::encoder::sparse) const SUM_ONE: i16 = 255;

/// Squares of sums are shifted right by this, so that activations stay below 128 and sums of two
/// products below 2^15.
pub(super) const ACTIVATION_SHIFT: u32 = 9;

/// 1.0 in an activation: `SUM_ONE² / 2^ACTIVATION_SHIFT`.
pub(in crate::encoder::sparse) const ACTIVATION_ONE: f32 = 65_025.0 / 512.0;

/// The parameters of the feature sums.
pub(in crate::encoder::sparse) struct Sums {
    /// Feature rows in units of 1 / `SUM_ONE`.
    pub(in crate::encoder::sparse) table: Vec<i16>,
    pub(in crate::encoder::sparse) bias: Vec<i16>,
}

impl Sums {
    /// Fetches the beginning of rows into the processor's cache; the rest follows while the
    /// beginning is used.
    pub(in crate::encoder::sparse) fn prefetch(&self, rows: &[u16]) {
        let width = self.bias.len();
        for &row in rows {
            let first = usize::from(row) * width;
            let (lines, _) = self.table[first..][..BLOCK].as_chunks::<LINE>();
            lines.iter().for_each(prefetch);
        }
    }
}

/// Rows of a table to add to a sum and to subtract from it.
pub(super) struct Change<'a> {
    pub(super) table: &'a [i16],
    pub(super) added: &'a [u16],
    pub(super) removed: &'a [u16],
}
