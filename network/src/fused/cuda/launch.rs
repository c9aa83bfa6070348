//! What is asked of a device: a kernel, its grid and its arguments.

use candle_core::{DType, Result, Tensor, bail};

use super::super::dropout_mask::DropoutMask;

/// Values that a thread moves at a time, at most.
pub(super) const VECTOR_WIDTH: usize = 8;
/// Threads of a block where they do not depend on the shape.
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
}

pub(super) enum Argument<'a> {
    /// Read or written; contiguous, and its first value on a multiple of [`VECTOR_WIDTH`].
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

impl From<usize> for Argument<'_> {
    fn from(number: usize) -> Self {
        Self::Int(number as i32)
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
        Ok(Self { name, dtype, grid, block, shared: 0, arguments: Vec::new() })
    }

    pub(super) fn grid(mut self, x: usize, y: usize) -> Self {
        self.grid = [x as u32, y as u32];
        self
    }

    pub(super) fn block(mut self, threads: usize) -> Self {
        self.block = threads as u32;
        self
    }

    pub(super) fn shared(mut self, bytes: usize) -> Self {
        self.shared = bytes;
        self
    }

    pub(super) fn with(mut self, argument: impl Into<Argument<'a>>) -> Self {
        self.arguments.push(argument.into());
        self
    }
}
