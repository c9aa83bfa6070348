//! A launch: a kernel, its grid and its arguments.

use candle_core::{DType, Result, Tensor, bail};

use crate::fused::operations::DropoutMask;

/// Maximum number of values that a thread loads or stores at a time.
pub(super) const VECTOR_WIDTH: usize = 8;
/// Threads per block if independent of the shape.
pub(super) const THREADS: usize = 128;

/// A kernel, its grid and its arguments: tensors, then sizes, then a mask if it drops values.
pub(super) struct Launch<'a> {
    pub(super) name: String,
    pub(super) dtype: DType,
    pub(super) grid: [u32; 2],
    pub(super) block: u32,
    /// Bytes of shared memory.
    pub(super) shared: usize,
    /// Tensors that the kernel reads or writes. They are contiguous, and their first values are
    /// aligned to [`VECTOR_WIDTH`] values.
    pub(super) tensors: Vec<&'a Tensor>,
    pub(super) sizes: Vec<i32>,
    pub(super) mask: Option<DropoutMask>,
    /// Whether all sizes so far fit into an i32.
    fits: bool,
}

impl<'a> Launch<'a> {
    pub(super) fn new(operation: &str, dtype: DType) -> Result<Self> {
        let precision = match dtype {
            DType::F32 => "float",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            other => bail!("{operation}: no kernel for {other:?}"),
        };
        Ok(Self {
            name: format!("{operation}_{precision}"),
            dtype,
            grid: [1, 1],
            block: THREADS as u32,
            shared: 0,
            tensors: Vec::new(),
            sizes: Vec::new(),
            mask: None,
            fits: true,
        })
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

    pub(super) fn tensors(mut self, tensors: &[&'a Tensor]) -> Self {
        self.tensors.extend(tensors);
        self
    }

    pub(super) fn sizes(mut self, sizes: &[usize]) -> Self {
        for &size in sizes {
            let size = self.size(size) as i32;
            self.sizes.push(size);
        }
        self
    }

    pub(super) fn mask(mut self, mask: DropoutMask) -> Self {
        self.mask = Some(mask);
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
        launch()?.grid(most, 1).block(THREADS).shared(most).sizes(&[most]).check()?;
        for launch in [
            launch()?.sizes(&[most + 1]),
            // Truncated to 32 bits, it would be 1.
            launch()?.sizes(&[(1 << 32) + 1]),
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
