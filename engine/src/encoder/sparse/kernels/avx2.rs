//! The kernels in AVX2.

use std::arch::x86_64::*;

use super::super::config::HIDDEN;
use super::slots::{SLOTS, Slots};
use super::sums::{ACTIVATION_SHIFT, Change, SUM_ONE};

const LANES: usize = 16;
/// Registers that hold a part of the sum: half of the sixteen.
const REGISTERS: usize = 8;

/// # Safety
/// AVX2; the width is a multiple of 128; rows lie inside the table.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn activate(change: &Change<'_>, total: &mut [i16], activations: &mut [u8]) {
    let width = total.len();
    let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi16(SUM_ONE));
    for start in (0..width).step_by(LANES * REGISTERS) {
        let mut sum = [zero; REGISTERS];
        // SAFETY: every load and store stays within the sum, a row or the activations, all of the same
        // width, as the caller vouches.
        unsafe {
            let total = total.as_mut_ptr().add(start);
            for (index, sum) in sum.iter_mut().enumerate() {
                *sum = _mm256_loadu_si256(total.add(index * LANES).cast());
            }
            for &row in change.added {
                let row = change.table.as_ptr().add(usize::from(row) * width + start);
                for (index, sum) in sum.iter_mut().enumerate() {
                    let value = _mm256_loadu_si256(row.add(index * LANES).cast());
                    *sum = _mm256_add_epi16(*sum, value);
                }
            }
            for &row in change.removed {
                let row = change.table.as_ptr().add(usize::from(row) * width + start);
                for (index, sum) in sum.iter_mut().enumerate() {
                    let value = _mm256_loadu_si256(row.add(index * LANES).cast());
                    *sum = _mm256_sub_epi16(*sum, value);
                }
            }
            for (index, sum) in sum.iter().enumerate() {
                _mm256_storeu_si256(total.add(index * LANES).cast(), *sum);
            }
            let squares = sum.map(|sum| {
                let clipped = _mm256_min_epi16(_mm256_max_epi16(sum, zero), one);
                _mm256_srli_epi16::<{ ACTIVATION_SHIFT as i32 }>(_mm256_mullo_epi16(
                    clipped, clipped,
                ))
            });
            let out = activations.as_mut_ptr().add(start);
            for (index, pair) in squares.chunks_exact(2).enumerate() {
                // Packing works within 128-bit halves; the permutation puts them back in order.
                let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(
                    pair[0], pair[1],
                ));
                _mm256_storeu_si256(out.add(index * 2 * LANES).cast(), packed);
            }
        }
    }
}

/// # Safety
/// AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn differing(before: &Slots, now: &Slots) -> u128 {
    let mut differing = 0;
    for start in (0..SLOTS).step_by(2 * LANES) {
        let equal = [start, start + LANES].map(|start| {
            // SAFETY: the slots are a whole number of pairs of registers.
            let (before, now) = unsafe {
                let (before, now) = (before.as_ptr().add(start), now.as_ptr().add(start));
                (_mm256_loadu_si256(before.cast()), _mm256_loadu_si256(now.cast()))
            };
            _mm256_cmpeq_epi16(before, now)
        });
        // Packing works within 128-bit halves; the permutation puts them back in order.
        let packed = _mm256_packs_epi16(equal[0], equal[1]);
        let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
        let differs = !(_mm256_movemask_epi8(ordered) as u32);
        differing |= u128::from(differs) << start;
    }
    differing
}

/// # Safety
/// AVX2; there are HIDDEN weights for every activation.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn multiply(hidden: &[i8], activations: &[u8]) -> [i32; HIDDEN] {
    const OUT: usize = HIDDEN / 8;
    let ones = _mm256_set1_epi16(1);
    let mut sums = [_mm256_setzero_si256(); OUT];
    for (group, inputs) in activations.chunks_exact(4).enumerate() {
        let inputs = i32::from_le_bytes([inputs[0], inputs[1], inputs[2], inputs[3]]);
        let inputs = _mm256_set1_epi32(inputs);
        for (index, sum) in sums.iter_mut().enumerate() {
            // SAFETY: a group has 4 x HIDDEN weights.
            let weights = unsafe {
                let weights = hidden.as_ptr().add(group * 4 * HIDDEN + index * 32);
                _mm256_loadu_si256(weights.cast())
            };
            let pairs = _mm256_maddubs_epi16(inputs, weights);
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
        }
    }
    let mut products = [0; HIDDEN];
    for (sum, products) in sums.iter().zip(products.chunks_exact_mut(8)) {
        // SAFETY: the chunk is 8 x i32, as wide as the register.
        unsafe { _mm256_storeu_si256(products.as_mut_ptr().cast(), *sum) };
    }
    products
}
