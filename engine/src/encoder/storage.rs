//! The values of candle's CPU tensors as slices, for operations of our own.

use candle_core::{CpuStorage, Layout, Result, Storage, Tensor, WithDType, bail};

/// The f32 values of a contiguous tensor.
pub(super) fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let Some((start, end)) = layout.contiguous_offsets() else {
        bail!("CPU operation: expected a contiguous tensor");
    };
    Ok(&f32::cpu_storage_as_slice(storage)?[start..end])
}

/// Runs `work` on the f32 values of a CPU tensor.
pub(super) fn with_values<T>(tensor: &Tensor, work: impl FnOnce(&[f32]) -> T) -> Result<T> {
    let tensor = tensor.contiguous()?;
    let (storage, layout) = tensor.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { bail!("CPU operation: not on the CPU") };
    Ok(work(values(storage, layout)?))
}
