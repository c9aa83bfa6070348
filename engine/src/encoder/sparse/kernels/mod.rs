//! The integer kernels of the sparse encoder: the same functions in one file per instruction set.
//! Their results are equal bit for bit.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod choice;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod sums;
#[cfg(test)]
mod tests;

use azimuth_network::sparse::HIDDEN;
use azimuth_network::sparse::features::Slots;
use sums::Change;
pub(super) use sums::{ACTIVATION_ONE, SUM_ONE, Sums};

/// The width of a sum is a multiple of this. Every kernel works on a block of this width, or on a
/// part of it, in whole registers.
const BLOCK: usize = 128;

/// The instruction sets in order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// AVX-512 with byte, word and VNNI instructions.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Plain Rust.
    Portable,
}

impl Kernels {
    /// The instruction sets that this processor supports, best first.
    pub fn available() -> Vec<Self> {
        let mut kernels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vnni")
            {
                kernels.push(Self::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                kernels.push(Self::Avx2);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            kernels.push(Self::Neon);
        }
        kernels.push(Self::Portable);
        kernels
    }

    /// Adds rows of the table to a sum, subtracts others, and writes the sum's activations.
    pub(super) fn activate(
        self,
        sums: &Sums,
        sum: &mut [i16],
        added: &[u16],
        removed: &[u16],
        activations: &mut [u8],
    ) {
        let width = sums.bias.len();
        assert!(activations.len() == width && sum.len() == width);
        assert!(width.is_multiple_of(BLOCK));
        let highest = |rows: &[u16]| rows.iter().copied().max().map_or(0, usize::from);
        assert!((highest(added).max(highest(removed)) + 1) * width <= sums.table.len());
        let change = Change { table: &sums.table, added, removed };
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` lists a kernel only if the processor has its instructions;
            // lengths and rows were checked above.
            Self::Avx512 => unsafe { avx512::activate(&change, sum, activations) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx2 => unsafe { avx2::activate(&change, sum, activations) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as above.
            Self::Neon => unsafe { neon::activate(&change, sum, activations) },
            Self::Portable => portable::activate(&change, sum, activations),
        }
    }

    /// The slots in which two views differ, one bit per slot.
    pub(super) fn differing(self, before: &Slots, now: &Slots) -> u128 {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `activate`.
            Self::Avx512 => unsafe { avx512::differing(before, now) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `activate`.
            Self::Avx2 => unsafe { avx2::differing(before, now) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as in `activate`.
            Self::Neon => unsafe { neon::differing(before, now) },
            Self::Portable => portable::differing(before, now),
        }
    }

    /// The integer products of a hidden layer with `activations` (2H), before scale and bias. The
    /// weights are stored in groups of four inputs: `[2H / 4][HIDDEN][4]`.
    pub(super) fn multiply(self, hidden: &[i8], activations: &[u8]) -> [i32; HIDDEN] {
        assert_eq!(activations.len() * HIDDEN, hidden.len());
        assert!(activations.len().is_multiple_of(BLOCK));
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `activate`.
            Self::Avx512 => unsafe { avx512::multiply(hidden, activations) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `activate`.
            Self::Avx2 => unsafe { avx2::multiply(hidden, activations) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as in `activate`.
            Self::Neon => unsafe { neon::multiply(hidden, activations) },
            Self::Portable => portable::multiply(hidden, activations),
        }
    }
}
