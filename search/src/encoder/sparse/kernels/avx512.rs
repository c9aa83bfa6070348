//! The kernels in AVX-512 with VNNI.

use std::arch::x86_64::*;

use azimuth_network::sparse::HIDDEN;

use super::{ACTIVATION_SHIFT, BLOCK, Change, GROUP, SUM_ONE, TOGETHER, change_sum};

const LANES: usize = 32;
/// Registers that hold a part of the sum.
const REGISTERS: usize = 4;
/// Independent chains of products, to hide the latency of one.
const CHAINS: usize = 4;

// No load or store of a register goes beyond its slice.
const _: () = assert!(BLOCK.is_multiple_of(LANES * REGISTERS));
const _: () = assert!(HIDDEN.is_multiple_of(16));

/// # Safety
/// `values` must point to a register of values.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
unsafe fn load(values: *const i16) -> __m512i {
    // SAFETY: the caller guarantees it.
    unsafe { _mm512_loadu_si512(values.cast()) }
}

/// Values of 8 bits as values of 16.
///
/// # Safety
/// `values` must point to [`LANES`] values.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
unsafe fn widened(values: *const i8) -> __m512i {
    // SAFETY: the caller guarantees it.
    unsafe { _mm512_cvtepi8_epi16(_mm256_loadu_si256(values.cast())) }
}

/// # Safety
/// Needs AVX-512 F and BW, a width that is a multiple of 128, and rows inside the table.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn activate(change: &Change<'_>, total: &mut [i16], activations: &mut [u8]) {
    let width = total.len();
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi16(SUM_ONE));
    for start in (0..width).step_by(LANES * REGISTERS) {
        let mut sum = [zero; REGISTERS];
        // SAFETY: every load and store stays within the sum, a row or the activations. All have the
        // same width, as the caller guarantees.
        unsafe {
            let total = total.as_mut_ptr().add(start);
            for (index, sum) in sum.iter_mut().enumerate() {
                *sum = _mm512_loadu_si512(total.add(index * LANES).cast());
            }
            change_sum!(sum, change.pieces, width, start, load, _mm512_add_epi16, _mm512_sub_epi16);
            change_sum!(
                sum,
                change.attackers,
                width,
                start,
                widened,
                _mm512_add_epi16,
                _mm512_sub_epi16
            );
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

/// Writes the indices of the groups that contain a nonzero activation, and returns their number.
/// Most groups are zero, because most sums are negative.
///
/// # Safety
/// Needs AVX-512 F and POPCNT. The activations must fill a whole number of registers, and `groups`
/// must have room for an index per group.
#[target_feature(enable = "avx512f,popcnt")]
unsafe fn active_groups(activations: &[u8], groups: &mut [u32]) -> usize {
    const GROUPS: usize = 64 / GROUP;
    let first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mut count = 0;
    for (register, chunk) in activations.chunks_exact(64).enumerate() {
        // SAFETY: the chunk is as wide as the register. At most all groups of the previous
        // registers have been written, and there is room for those of this one.
        unsafe {
            let values = _mm512_loadu_si512(chunk.as_ptr().cast());
            let active = _mm512_test_epi32_mask(values, values);
            let numbers = _mm512_add_epi32(first, _mm512_set1_epi32((register * GROUPS) as i32));
            let packed = _mm512_maskz_compress_epi32(active, numbers);
            _mm512_storeu_si512(groups.as_mut_ptr().add(count).cast(), packed);
            count += active.count_ones() as usize;
        }
    }
    count
}

/// # Safety
/// Needs AVX-512 F and VNNI, POPCNT, HIDDEN weights for every activation, and activations that fill
/// a whole number of registers.
#[target_feature(enable = "avx512f,avx512vnni,popcnt")]
pub(super) unsafe fn multiply(hidden: &[i8], activations: &[u8]) -> [i32; HIDDEN] {
    const OUT: usize = HIDDEN / 16;
    let mut sums = [[_mm512_setzero_si512(); OUT]; CHAINS];
    let mut groups = [0; TOGETHER];
    for (block, activations) in activations.chunks(TOGETHER * GROUP).enumerate() {
        let hidden = &hidden[block * TOGETHER * GROUP * HIDDEN..];
        let add = |sums: &mut [__m512i; OUT], group: u32| {
            let group = group as usize;
            // SAFETY: the group is inside the block and has GROUP x HIDDEN weights.
            unsafe {
                let inputs = activations.as_ptr().add(group * GROUP).cast::<i32>();
                let inputs = _mm512_set1_epi32(inputs.read_unaligned());
                for (index, sum) in sums.iter_mut().enumerate() {
                    let weights = hidden.as_ptr().add(group * GROUP * HIDDEN + index * 64);
                    let weights = _mm512_loadu_si512(weights.cast());
                    *sum = _mm512_dpbusd_epi32(*sum, inputs, weights);
                }
            }
        };
        // SAFETY: a block has no more groups than there is room for.
        let active = unsafe { active_groups(activations, &mut groups) };
        let (together, rest) = groups[..active].as_chunks::<CHAINS>();
        for groups in together {
            sums.iter_mut().zip(groups).for_each(|(sums, &group)| add(sums, group));
        }
        sums.iter_mut().zip(rest).for_each(|(sums, &group)| add(sums, group));
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
