//! The integer kernels of the sparse encoder: the same functions in one file per instruction set,
//! with equal results bit for bit. This file has their data, [`Sums`], and the choice among them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_feature = "simd128")]
mod simd128;
#[cfg(test)]
mod tests;

use std::env;
use std::fmt::{Display, Formatter};

use anyhow::{Context, Result};
use azimuth_network::sparse::HIDDEN;
use azimuth_network::sparse::features::{Changes, RowChanges};

use crate::large_memory::prefetch;

/// The width of a sum is a multiple of this. Every kernel works on a block of this width, or on a
/// part of it, in whole registers.
const BLOCK: usize = 128;

/// Number of activations that are multiplied together.
#[cfg(target_arch = "x86_64")]
const GROUP: usize = 4;

/// Number of groups that are tested for zeros together.
#[cfg(target_arch = "x86_64")]
const TOGETHER: usize = 256;

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
    /// SIMD of WebAssembly.
    #[cfg(target_feature = "simd128")]
    Simd128,
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
                && is_x86_feature_detected!("popcnt")
            {
                kernels.push(Self::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                kernels.push(Self::Avx2);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            kernels.push(Self::Neon);
        }
        #[cfg(target_feature = "simd128")]
        kernels.push(Self::Simd128);
        kernels.push(Self::Portable);
        kernels
    }

    /// Makes changes to a sum, and writes its activations.
    pub(super) fn activate(
        self,
        sums: &Sums,
        sum: &mut [i16],
        changes: &RowChanges,
        activations: &mut [u8],
    ) {
        let width = sums.bias.len();
        let pieces = Changed::of(&changes.pieces);
        let attackers = Changed::of(&changes.attackers);
        assert!(activations.len() == width && sum.len() == width);
        assert!(width.is_multiple_of(BLOCK));
        assert!(pieces.end() * width <= sums.table.len());
        assert!(attackers.end() * width <= sums.attackers.len());
        let change = Change {
            pieces: Rows { table: &sums.table, changed: pieces },
            attackers: Rows { table: &sums.attackers, changed: attackers },
        };
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
            #[cfg(target_feature = "simd128")]
            // SAFETY: as above.
            Self::Simd128 => unsafe { simd128::activate(&change, sum, activations) },
            Self::Portable => portable::activate(&change, sum, activations),
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
            #[cfg(target_feature = "simd128")]
            // SAFETY: as in `activate`.
            Self::Simd128 => unsafe { simd128::multiply(hidden, activations) },
            Self::Portable => portable::multiply(hidden, activations),
        }
    }
}

/// The environment variable that names an instruction set.
const VARIABLE: &str = "AZIMUTH_INSTRUCTION_SET";

impl Kernels {
    /// The instruction set that `AZIMUTH_INSTRUCTION_SET` names; if it is not set, the best of this
    /// processor. So tests can compare them; the layers in f32 always use the best. Fails if this
    /// processor does not support the named one.
    pub fn chosen() -> Result<Self> {
        let available = Self::available();
        let Some(name) = env::var_os(VARIABLE) else { return Ok(available[0]) };
        let names: Vec<String> = available.iter().map(Self::to_string).collect();
        let place = names.iter().position(|known| name == known.as_str());
        place.map(|place| available[place]).with_context(|| {
            let name = name.to_string_lossy();
            format!("{VARIABLE}: this processor has no '{name}', only {}", names.join(", "))
        })
    }
}

/// The name by which `AZIMUTH_INSTRUCTION_SET` chooses it.
impl Display for Kernels {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "aarch64")]
            Self::Neon => "neon",
            #[cfg(target_feature = "simd128")]
            Self::Simd128 => "simd128",
            Self::Portable => "portable",
        })
    }
}

/// 1.0 in a feature sum.
pub const SUM_ONE: i16 = 255;

/// Squares of sums are shifted right by this, so that activations stay below 128 and sums of two
/// products below 2^15.
const ACTIVATION_SHIFT: u32 = 9;

/// 1.0 in an activation: `SUM_ONE² / 2^ACTIVATION_SHIFT`.
pub const ACTIVATION_ONE: f32 = 65_025.0 / 512.0;

/// The parameters of the feature sums, in units of 1 / `SUM_ONE`.
pub struct Sums {
    /// The rows of pieces and threats.
    pub table: Vec<i16>,
    /// The rows of attackers.
    pub attackers: Vec<i8>,
    pub bias: Vec<i16>,
}

impl Sums {
    /// Fetches the beginning of rows into the processor's cache; the rest follows while the
    /// beginning is used.
    pub fn prefetch(&self, changes: &RowChanges) {
        fn fetch<T, const LINE: usize>(table: &[T], width: usize, changed: Changed<'_>) {
            for rows in [changed.added, changed.removed] {
                for &row in rows {
                    let first = table.as_ptr().wrapping_add(usize::from(row) * width);
                    (0..BLOCK).step_by(LINE).for_each(|value| prefetch(first.wrapping_add(value)));
                }
            }
        }
        let width = self.bias.len();
        // Lines of 64 bytes.
        fetch::<i16, 32>(&self.table, width, Changed::of(&changes.pieces));
        fetch::<i8, 64>(&self.attackers, width, Changed::of(&changes.attackers));
    }
}

/// Rows to add to a sum and to subtract from it.
#[derive(Clone, Copy)]
struct Changed<'a> {
    added: &'a [u16],
    removed: &'a [u16],
}

impl<'a> Changed<'a> {
    fn of<const N: usize>(changes: &'a Changes<N>) -> Self {
        Self { added: changes.added.as_slice(), removed: changes.removed.as_slice() }
    }

    /// The index after the highest row.
    fn end(&self) -> usize {
        let highest = |rows: &[u16]| rows.iter().fold(0, |highest: u16, &row| highest.max(row));
        let is_empty = self.added.is_empty() && self.removed.is_empty();
        usize::from(highest(self.added).max(highest(self.removed))) + usize::from(!is_empty)
    }
}

/// Rows of a table to add and to subtract.
struct Rows<'a, T> {
    table: &'a [T],
    changed: Changed<'a>,
}

struct Change<'a> {
    pieces: Rows<'a, i16>,
    attackers: Rows<'a, i8>,
}

/// Changes registers that hold the part of a sum of `width` that begins at `start`, by the rows of
/// one table.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
macro_rules! change_sum {
    ($sum:ident, $rows:expr, $width:ident, $start:ident, $load:ident, $add:ident, $subtract:ident) => {
        for &row in $rows.changed.added {
            let row = $rows.table.as_ptr().add(usize::from(row) * $width + $start);
            for (index, sum) in $sum.iter_mut().enumerate() {
                *sum = $add(*sum, $load(row.add(index * LANES)));
            }
        }
        for &row in $rows.changed.removed {
            let row = $rows.table.as_ptr().add(usize::from(row) * $width + $start);
            for (index, sum) in $sum.iter_mut().enumerate() {
                *sum = $subtract(*sum, $load(row.add(index * LANES)));
            }
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
use change_sum;
