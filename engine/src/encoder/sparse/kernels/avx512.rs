//! The kernels in AVX-512 with VNNI.

use std::arch::x86_64::*;

use super::super::config::HIDDEN;
use super::slots::{SLOTS, Slots};
use super::sums::{ACTIVATION_SHIFT, Change, SUM_ONE};

const LANES: usize = 32;
/// Registers that hold a part of the sum.
const REGISTERS: usize = 4;
/// Independent chains of products, to hide the latency of one.
const CHAINS: usize = 4;

/// # Safety
/// AVX-512 F and BW; the width is a multiple of 128; rows lie inside the table.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn activate(change: &Change<'_>, total: &mut [i16], activations: &mut [u8]) {
    let width = total.len();
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi16(SUM_ONE));
    for start in (0..width).step_by(LANES * REGISTERS) {
        let mut sum = [zero; REGISTERS];
        // SAFETY: every load and store stays within the sum, a row or the activations, all of the same
        // width, as the caller vouches.
        unsafe {
            let total = total.as_mut_ptr().add(start);
            for (index, sum) in sum.iter_mut().enumerate() {
                *sum = _mm512_loadu_si512(total.add(index * LANES).cast());
            }
            for &row in change.added {
                let row = change.table.as_ptr().add(usize::from(row) * width + start);
                for (index, sum) in sum.iter_mut().enumerate() {
                    let value = _mm512_loadu_si512(row.add(index * LANES).cast());
                    *sum = _mm512_add_epi16(*sum, value);
                }
            }
            for &row in change.removed {
                let row = change.table.as_ptr().add(usize::from(row) * width + start);
                for (index, sum) in sum.iter_mut().enumerate() {
                    let value = _mm512_loadu_si512(row.add(index * LANES).cast());
                    *sum = _mm512_sub_epi16(*sum, value);
                }
            }
            for (index, sum) in sum.iter().enumerate() {
                _mm512_storeu_si512(total.add(index * LANES).cast(), *sum);
            }
            let out = activations.as_mut_ptr().add(start);
            for (index, sum) in sum.iter().enumerate() {
                let clipped = _mm512_min_epi16(_mm512_max_epi16(*sum, zero), one);
                let square = _mm512_mullo_epi16(clipped, clipped);
                let activation = _mm512_srli_epi16::<ACTIVATION_SHIFT>(square);
                _mm256_storeu_si256(
                    out.add(index * LANES).cast(),
                    _mm512_cvtepi16_epi8(activation),
                );
            }
        }
    }
}

/// # Safety
/// AVX-512 with word instructions.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn differing(before: &Slots, now: &Slots) -> u128 {
    let mut differing = 0;
    for start in (0..SLOTS).step_by(32) {
        // SAFETY: the slots are a whole number of registers.
        let (before, now) = unsafe {
            let (before, now) = (before.as_ptr().add(start), now.as_ptr().add(start));
            (_mm512_loadu_si512(before.cast()), _mm512_loadu_si512(now.cast()))
        };
        differing |= u128::from(_mm512_cmpneq_epi16_mask(before, now)) << start;
    }
    differing
}

/// # Safety
/// AVX-512 F and VNNI; there are HIDDEN weights for every activation.
#[target_feature(enable = "avx512f,avx512vnni")]
pub(super) unsafe fn multiply(hidden: &[i8], activations: &[u8]) -> [i32; HIDDEN] {
    const OUT: usize = HIDDEN / 16;
    let mut sums = [[_mm512_setzero_si512(); OUT]; CHAINS];
    for (block, inputs) in activations.chunks_exact(4 * CHAINS).enumerate() {
        for (chain, sums) in sums.iter_mut().enumerate() {
            let inputs = &inputs[4 * chain..4 * chain + 4];
            let inputs = i32::from_le_bytes([inputs[0], inputs[1], inputs[2], inputs[3]]);
            let inputs = _mm512_set1_epi32(inputs);
            let group = block * CHAINS + chain;
            for (index, sum) in sums.iter_mut().enumerate() {
                // SAFETY: a group has 4 x HIDDEN weights.
                let weights = unsafe {
                    let weights = hidden.as_ptr().add(group * 4 * HIDDEN + index * 64);
                    _mm512_loadu_si512(weights.cast())
                };
                *sum = _mm512_dpbusd_epi32(*sum, inputs, weights);
            }
        }
    }
    let mut products = [0; HIDDEN];
    for (index, products) in products.chunks_exact_mut(16).enumerate() {
        let sum = sums
            .iter()
            .fold(_mm512_setzero_si512(), |all, sums| _mm512_add_epi32(all, sums[index]));
        // SAFETY: the chunk is 16 x i32, as wide as the register.
        unsafe { _mm512_storeu_si512(products.as_mut_ptr().cast(), sum) };
    }
    products
}
