//! The kernels in AVX2.

use std::arch::x86_64::*;

use azimuth_network::sparse::HIDDEN;

use super::{ACTIVATION_SHIFT, BLOCK, Change, GROUP, SUM_ONE, TOGETHER, change_sum};

const LANES: usize = 16;
/// Registers that hold a part of the sum: half of the sixteen registers.
const REGISTERS: usize = 8;
/// Registers of products, one for eight neurons.
const OUT: usize = HIDDEN / 8;
/// Independent chains of products; two leave registers free for the inputs.
const CHAINS: usize = 2;

// No load or store of a register goes beyond its slice.
const _: () = assert!(BLOCK.is_multiple_of(LANES * REGISTERS));
const _: () = assert!(HIDDEN.is_multiple_of(8));

/// # Safety
/// `values` must point to a register of values.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load(values: *const i16) -> __m256i {
    // SAFETY: the caller guarantees it.
    unsafe { _mm256_loadu_si256(values.cast()) }
}

/// Values of 8 bits as values of 16.
///
/// # Safety
/// `values` must point to [`LANES`] values.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn widened(values: *const i8) -> __m256i {
    // SAFETY: the caller guarantees it.
    unsafe { _mm256_cvtepi8_epi16(_mm_loadu_si128(values.cast())) }
}

/// # Safety
/// Needs AVX2, a width that is a multiple of 128, and rows inside the table.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn activate(change: &Change<'_>, total: &mut [i16], activations: &mut [u8]) {
    let width = total.len();
    let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi16(SUM_ONE));
    for start in (0..width).step_by(LANES * REGISTERS) {
        let mut sum = [zero; REGISTERS];
        // SAFETY: every load and store stays within the sum, a row or the activations. All have the
        // same width, as the caller guarantees.
        unsafe {
            let total = total.as_mut_ptr().add(start);
            for (index, sum) in sum.iter_mut().enumerate() {
                *sum = _mm256_loadu_si256(total.add(index * LANES).cast());
            }
            change_sum!(sum, change.pieces, width, start, load, _mm256_add_epi16, _mm256_sub_epi16);
            change_sum!(
                sum,
                change.attackers,
                width,
                start,
                widened,
                _mm256_add_epi16,
                _mm256_sub_epi16
            );
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

/// For each byte, the indices of its set bits, lowest first; the rest is zero.
static SET_BITS: [[u16; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 != 0 {
                places[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    places
};

/// Writes the indices of the groups that contain a nonzero activation, and returns their number.
/// Most groups are zero, because most sums are negative.
///
/// # Safety
/// Needs AVX2 and POPCNT. The activations must fill a whole number of registers, and `groups` must
/// have room for an index per group.
#[target_feature(enable = "avx2,popcnt")]
unsafe fn active_groups(activations: &[u8], groups: &mut [u16]) -> usize {
    const GROUPS: usize = 32 / GROUP;
    let mut count = 0;
    for (register, chunk) in activations.chunks_exact(32).enumerate() {
        // SAFETY: the chunk is as wide as the register. At most all groups of the previous
        // registers have been written, and there is room for those of this one.
        unsafe {
            let values = _mm256_loadu_si256(chunk.as_ptr().cast());
            let zero = _mm256_cmpeq_epi32(values, _mm256_setzero_si256());
            let active = !_mm256_movemask_ps(_mm256_castsi256_ps(zero)) as u8;
            let places = _mm_loadu_si128(SET_BITS[usize::from(active)].as_ptr().cast());
            let first = _mm_set1_epi16((register * GROUPS) as i16);
            _mm_storeu_si128(groups.as_mut_ptr().add(count).cast(), _mm_add_epi16(places, first));
            count += active.count_ones() as usize;
        }
    }
    count
}

/// Adds the products of one group of activations.
///
/// # Safety
/// Needs AVX2, activations of the group, and GROUP x HIDDEN weights for it.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn add_products(sums: &mut [__m256i; OUT], hidden: &[i8], activations: &[u8], group: u16) {
    let group = usize::from(group);
    // SAFETY: the caller guarantees that the group is inside both.
    unsafe {
        let inputs = activations.as_ptr().add(group * GROUP).cast::<i32>();
        let inputs = _mm256_set1_epi32(inputs.read_unaligned());
        for (index, sum) in sums.iter_mut().enumerate() {
            let weights = hidden.as_ptr().add(group * GROUP * HIDDEN + index * 32);
            let weights = _mm256_loadu_si256(weights.cast());
            let pairs = _mm256_maddubs_epi16(inputs, weights);
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
        }
    }
}

/// # Safety
/// Needs AVX2, POPCNT, HIDDEN weights for every activation, and activations that fill a whole
/// number of registers.
#[target_feature(enable = "avx2,popcnt")]
pub(super) unsafe fn multiply(hidden: &[i8], activations: &[u8]) -> [i32; HIDDEN] {
    let mut sums = [[_mm256_setzero_si256(); OUT]; CHAINS];
    let mut groups = [0; TOGETHER];
    for (block, activations) in activations.chunks(TOGETHER * GROUP).enumerate() {
        let hidden = &hidden[block * TOGETHER * GROUP * HIDDEN..];
        // SAFETY: a block has no more groups than there is room for, and each is inside the block
        // and has GROUP x HIDDEN weights.
        unsafe {
            let active = active_groups(activations, &mut groups);
            let (together, rest) = groups[..active].as_chunks::<CHAINS>();
            for groups in together {
                for (sums, &group) in sums.iter_mut().zip(groups) {
                    add_products(sums, hidden, activations, group);
                }
            }
            for &group in rest {
                add_products(&mut sums[0], hidden, activations, group);
            }
        }
    }
    let mut products = [0; HIDDEN];
    for (index, products) in products.chunks_exact_mut(8).enumerate() {
        let sum = _mm256_add_epi32(sums[0][index], sums[1][index]);
        // SAFETY: the chunk is 8 x i32, as wide as the register.
        unsafe { _mm256_storeu_si256(products.as_mut_ptr().cast(), sum) };
    }
    products
}
