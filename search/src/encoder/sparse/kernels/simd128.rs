//! The kernels in WebAssembly's SIMD.

use std::arch::wasm32::*;

use azimuth_network::sparse::HIDDEN;

use super::{ACTIVATION_SHIFT, BLOCK, Change, SUM_ONE, change_sum};

const LANES: usize = 8;
/// Registers that hold a part of the sum: half of the 16 registers of an x86-64 processor.
const REGISTERS: usize = 8;

// No load or store of a register goes beyond its slice.
const _: () = assert!(BLOCK.is_multiple_of(LANES * REGISTERS));
const _: () = assert!(HIDDEN.is_multiple_of(4));

/// # Safety
/// `values` must point to a register of values.
#[inline]
unsafe fn load(values: *const i16) -> v128 {
    // SAFETY: the caller guarantees it.
    unsafe { v128_load(values.cast()) }
}

/// Values of 8 bits as values of 16.
///
/// # Safety
/// `values` must point to [`LANES`] values.
#[inline]
unsafe fn widened(values: *const i8) -> v128 {
    // SAFETY: the caller guarantees it.
    unsafe { i16x8_load_extend_i8x8(values) }
}

/// # Safety
/// Needs a width that is a multiple of 128, and rows inside the table.
pub(super) unsafe fn activate(change: &Change<'_>, total: &mut [i16], activations: &mut [u8]) {
    let width = total.len();
    let (zero, one) = (i16x8_splat(0), i16x8_splat(SUM_ONE));
    let activation = |sum| {
        let clipped = i16x8_min(i16x8_max(sum, zero), one);
        u16x8_shr(i16x8_mul(clipped, clipped), ACTIVATION_SHIFT)
    };
    for start in (0..width).step_by(LANES * REGISTERS) {
        // SAFETY: every load and store stays within the sum, a row or the activations. All have the
        // same width, as the caller guarantees.
        unsafe {
            let total: *mut v128 = total.as_mut_ptr().add(start).cast();
            let mut sum: [v128; REGISTERS] =
                std::array::from_fn(|index| v128_load(total.add(index)));
            change_sum!(sum, change.pieces, width, start, load, i16x8_add, i16x8_sub);
            change_sum!(sum, change.attackers, width, start, widened, i16x8_add, i16x8_sub);
            for (index, &sum) in sum.iter().enumerate() {
                v128_store(total.add(index), sum);
            }
            let out: *mut v128 = activations.as_mut_ptr().add(start).cast();
            for (index, pair) in sum.as_chunks::<2>().0.iter().enumerate() {
                let [low, high] = pair.map(activation);
                v128_store(out.add(index), u8x16_narrow_i16x8(low, high));
            }
        }
    }
}

/// # Safety
/// Needs HIDDEN weights for every activation, and activations of at most 127.
pub(super) unsafe fn multiply(hidden: &[i8], activations: &[u8]) -> [i32; HIDDEN] {
    const OUT: usize = HIDDEN / 2;
    // For two outputs in a register, the sum of the first two products and that of the last two.
    let mut sums = [i32x4_splat(0); OUT];
    let groups = activations.chunks_exact(4).zip(hidden.chunks_exact(4 * HIDDEN));
    for (inputs, weights) in groups {
        let inputs = i32::from_le_bytes([inputs[0], inputs[1], inputs[2], inputs[3]]);
        // Most groups are zero, because most sums are negative.
        if inputs == 0 {
            continue;
        }
        let inputs = u16x8_extend_low_u8x16(i32x4_splat(inputs));
        for (index, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the group has 4 x HIDDEN weights.
            let weights = unsafe { i16x8_load_extend_i8x8(weights.as_ptr().add(index * LANES)) };
            *sum = i32x4_add(*sum, i32x4_dot_i16x8(weights, inputs));
        }
    }
    let mut products = [0; HIDDEN];
    let pairs = sums.as_chunks::<2>().0.iter().zip(products.as_chunks_mut::<4>().0);
    for (&[low, high], products) in pairs {
        let first = i32x4_shuffle::<0, 2, 4, 6>(low, high);
        let last = i32x4_shuffle::<1, 3, 5, 7>(low, high);
        // SAFETY: the chunk is 4 x i32, as wide as the register.
        unsafe { v128_store(products.as_mut_ptr().cast(), i32x4_add(first, last)) };
    }
    products
}
