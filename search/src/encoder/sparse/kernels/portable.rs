//! The kernels in plain Rust. The other kernels match them bit for bit.

use azimuth_network::sparse::HIDDEN;

use super::{ACTIVATION_SHIFT, Change, Rows, SUM_ONE};

pub(super) fn activate(change: &Change<'_>, sum: &mut [i16], activations: &mut [u8]) {
    change_rows(&change.pieces, sum);
    change_rows(&change.attackers, sum);
    for (activation, sum) in activations.iter_mut().zip(sum) {
        let clipped = (*sum).clamp(0, SUM_ONE) as u16;
        *activation = ((clipped * clipped) >> ACTIVATION_SHIFT) as u8;
    }
}

fn change_rows<T: Copy + Into<i16>>(rows: &Rows<'_, T>, sum: &mut [i16]) {
    let width = sum.len();
    let row = |&row: &u16| &rows.table[usize::from(row) * width..][..width];
    for row in rows.changed.added.iter().map(row) {
        sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum = sum.wrapping_add(value.into()));
    }
    for row in rows.changed.removed.iter().map(row) {
        sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum = sum.wrapping_sub(value.into()));
    }
}

pub(super) fn multiply(hidden: &[i8], activations: &[u8]) -> [i32; HIDDEN] {
    let mut products = [0; HIDDEN];
    let groups = activations.chunks_exact(4).zip(hidden.chunks_exact(4 * HIDDEN));
    for (inputs, weights) in groups {
        for (product, weights) in products.iter_mut().zip(weights.chunks_exact(4)) {
            for (&input, &weight) in inputs.iter().zip(weights) {
                *product += i32::from(input) * i32::from(weight);
            }
        }
    }
    products
}
