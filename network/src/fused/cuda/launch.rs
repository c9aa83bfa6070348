//! A launch: a kernel, its grid and its arguments.

use std::num::TryFromIntError;

use candle_core::{DType, Result, Tensor, bail};

use crate::fused::operations::DropoutMask;

/// Maximum number of values that a thread loads or stores at a time.
pub(super) const VECTOR_WIDTH: usize = 8;
/// Threads per block if independent of the shape.
pub(super) const THREADS: usize = 128;

/// A kernel, its grid and its arguments.
pub(super) struct Launch<'a> {
    pub(super) name: String,
    pub(super) dtype: DType,
    pub(super) grid: [u32; 2],
    pub(super) block: u32,
    /// Bytes of shared memory.
    pub(super) shared: usize,
    pub(super) arguments: Vec<Argument<'a>>,
    /// Whether all sizes so far fit into an i32.
    fits: bool,
}

pub(super) enum Argument<'a> {
    /// A tensor that the kernel reads or writes. It is contiguous, and its first value is aligned
    /// to [`VECTOR_WIDTH`] values.
    Tensor(&'a Tensor),
    Int(i32),
    Mask(MaskArgument),
}

/// `Mask` of `common.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct MaskArgument {
    pub(super) threshold: u32,
    pub(super) scale: f32,
    pub(super) seeds: [u32; 2],
}

impl From<DropoutMask> for Argument<'_> {
    fn from(mask: DropoutMask) -> Self {
        let DropoutMask { threshold, scale, seeds } = mask;
        Self::Mask(MaskArgument { threshold, scale, seeds })
    }
}

impl TryFrom<usize> for Argument<'_> {
    type Error = TryFromIntError;

    fn try_from(number: usize) -> std::result::Result<Self, TryFromIntError> {
        i32::try_from(number).map(Self::Int)
    }
}

impl<'a> From<&'a Tensor> for Argument<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<'a> Launch<'a> {
    pub(super) fn new(operation: &str, dtype: DType) -> Result<Self> {
        let precision = match dtype {
            DType::F32 => "float",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            other => bail!("{operation}: no kernel for {other:?}"),
        };
        let name = format!("{operation}_{precision}");
        let (grid, block) = ([1, 1], THREADS as u32);
        Ok(Self { name, dtype, grid, block, shared: 0, arguments: Vec::new(), fits: true })
    }

    pub(super) fn grid(mut self, x: usize, y: usize) -> Self {
        self.grid = [self.size(x), self.size(y)];
        self
    }

    pub(super) fn block(mut self, threads: usize) -> Self {
        self.block = self.size(threads);
        self
    }

    pub(super) fn shared(mut self, bytes: usize) -> Self {
        self.size(bytes);
        self.shared = bytes;
        self
    }

    pub(super) fn with(mut self, argument: impl TryInto<Argument<'a>>) -> Self {
        match argument.try_into() {
            Ok(argument) => self.arguments.push(argument),
            Err(_) => self.fits = false,
        }
        self
    }

    /// Fails if a size is too large for a kernel. If truncated, the kernel would leave results
    /// unwritten.
    pub(super) fn check(&self) -> Result<()> {
        if !self.fits {
            bail!(
                "{}: a size of more than {}; compute fewer positions at a time",
                self.name,
                i32::MAX
            );
        }
        Ok(())
    }

    /// Converts a size for a kernel. If it is too large, [`Self::check`] fails.
    fn size(&mut self, size: usize) -> u32 {
        self.fits &= i32::try_from(size).is_ok();
        size as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_a_kernel_does_not_take_are_refused() -> Result<()> {
        let most = i32::MAX as usize;
        let launch = || Launch::new("gelu", DType::F32);
        launch()?.grid(most, 1).block(THREADS).shared(most).with(most).check()?;
        for launch in [
            launch()?.with(most + 1),
            // Truncated to 32 bits, it would be 1.
            launch()?.with((1 << 32) + 1),
            launch()?.grid(1, (1 << 32) + 1),
            launch()?.block(1 << 32),
            launch()?.shared(1 << 32),
        ] {
            let error = launch.check().expect_err("too large").to_string();
            assert!(error.contains("gelu_float: a size of more than 2147483647"), "{error}");
        }
        Ok(())
    }
}
