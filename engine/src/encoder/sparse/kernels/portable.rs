//! The kernels in plain Rust: the reference that the others match bit for bit.

use super::{ACTIVATION_SHIFT, HIDDEN, SUM_ONE, Sums};

/// Widest feature sum that is kept on the stack at once.
const CHUNK: usize = 128;

pub(super) fn activate(sums: &Sums, rows: &[u16], activations: &mut [u8]) {
    let width = sums.bias.len();
    for (chunk, activations) in activations.chunks_exact_mut(CHUNK).enumerate() {
        let start = chunk * CHUNK;
        let mut sum = [0i16; CHUNK];
        sum.copy_from_slice(&sums.bias[start..start + CHUNK]);
        for &row in rows {
            let row = &sums.table[usize::from(row) * width + start..][..CHUNK];
            sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum = sum.saturating_add(value));
        }
        for (activation, sum) in activations.iter_mut().zip(sum) {
            let clipped = sum.clamp(0, SUM_ONE) as u16;
            *activation = ((clipped * clipped) >> ACTIVATION_SHIFT) as u8;
        }
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
