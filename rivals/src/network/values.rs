//! The values of candle's CPU tensors, for operations of our own.

use candle_core::{CpuStorage, Layout, Result, bail};

/// The f32 values of a contiguous tensor.
pub fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((start, end))) => Ok(&values[start..end]),
        _ => bail!("expected a contiguous f32 tensor"),
    }
}
