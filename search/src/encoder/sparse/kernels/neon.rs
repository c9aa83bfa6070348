//! The kernels in NEON.

use std::arch::aarch64::*;

use azimuth_network::sparse::HIDDEN;

use super::{ACTIVATION_SHIFT, BLOCK, Change, SUM_ONE, change_sum};

const LANES: usize = 8;
/// Registers that hold a part of the sum: half of the 32 registers.
const REGISTERS: usize = 16;

// No load or store of a register goes beyond its slice.
const _: () = assert!(BLOCK.is_multiple_of(LANES * REGISTERS));
const _: () = assert!(HIDDEN.is_multiple_of(4));

/// # Safety
/// `values` must point to a register of values.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn load(values: *const i16) -> int16x8_t {
    // SAFETY: the caller guarantees it.
    unsafe { vld1q_s16(values) }
}

/// Values of 8 bits as values of 16.
///
/// # Safety
/// `values` must point to [`LANES`] values.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn widened(values: *const i8) -> int16x8_t {
    // SAFETY: the caller guarantees it.
    unsafe { vmovl_s8(vld1_s8(values)) }
}

/// # Safety
/// Needs NEON, a width that is a multiple of 128, and rows inside the table.
#[target_feature(enable = "neon")]
pub(super) unsafe fn activate(change: &Change<'_>, total: &mut [i16], activations: &mut [u8]) {
    let width = total.len();
    let (zero, one) = (vdupq_n_s16(0), vdupq_n_s16(SUM_ONE));
    for start in (0..width).step_by(LANES * REGISTERS) {
        let mut sum = [zero; REGISTERS];
        // SAFETY: every load and store stays within the sum, a row or the activations. All have the
        // same width, as the caller guarantees.
        unsafe {
            let total = total.as_mut_ptr().add(start);
            for (index, sum) in sum.iter_mut().enumerate() {
                *sum = vld1q_s16(total.add(index * LANES));
            }
            change_sum!(sum, change.pieces, width, start, load, vaddq_s16, vsubq_s16);
            change_sum!(sum, change.attackers, width, start, widened, vaddq_s16, vsubq_s16);
            let out = activations.as_mut_ptr().add(start);
            for (index, &sum) in sum.iter().enumerate() {
                vst1q_s16(total.add(index * LANES), sum);
                let clipped = vreinterpretq_u16_s16(vminq_s16(vmaxq_s16(sum, zero), one));
                let squares = vmulq_u16(clipped, clipped);
                let shifted = vshrq_n_u16::<{ ACTIVATION_SHIFT as i32 }>(squares);
                vst1_u8(out.add(index * LANES), vmovn_u16(shifted));
            }
        }
    }
}

/// # Safety
/// Needs NEON, HIDDEN weights for every activation, and activations of at most 127.
#[target_feature(enable = "neon")]
pub(super) unsafe fn multiply(hidden: &[i8], activations: &[u8]) -> [i32; HIDDEN] {
    /// Bytes of a register: four outputs with four weights each.
    const BYTES: usize = 16;
    const OUT: usize = HIDDEN / 4;
    // For each output, the sum of its first two products and that of its last two.
    let mut sums = [[vdupq_n_s32(0); 2]; OUT];
    let groups = activations.chunks_exact(4).zip(hidden.chunks_exact(4 * HIDDEN));
    for (inputs, weights) in groups {
        let inputs = i32::from_le_bytes([inputs[0], inputs[1], inputs[2], inputs[3]]);
        // Most groups are zero, because most sums are negative.
        if inputs == 0 {
            continue;
        }
        let inputs = vreinterpret_s8_s32(vdup_n_s32(inputs));
        for (index, [low, high]) in sums.iter_mut().enumerate() {
            // SAFETY: the group has 4 x HIDDEN weights.
            let weights = unsafe { vld1q_s8(weights.as_ptr().add(index * BYTES)) };
            *low = vpadalq_s16(*low, vmull_s8(vget_low_s8(weights), inputs));
            *high = vpadalq_s16(*high, vmull_s8(vget_high_s8(weights), inputs));
        }
    }
    let mut products = [0; HIDDEN];
    for ([low, high], products) in sums.iter().zip(products.chunks_exact_mut(4)) {
        // SAFETY: the chunk is 4 x i32, as wide as the register.
        unsafe { vst1q_s32(products.as_mut_ptr(), vpaddq_s32(*low, *high)) };
    }
    products
}
