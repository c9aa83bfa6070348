//! The values of candle's CPU tensors as slices, for custom operations.

use candle_core::{CpuStorage, Layout, Result, Storage, Tensor, WithDType, bail};

/// The f32 values of a contiguous tensor.
pub fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let Some((start, end)) = layout.contiguous_offsets() else {
        bail!("CPU operation: expected a contiguous tensor");
    };
    Ok(&f32::cpu_storage_as_slice(storage)?[start..end])
}

/// Runs `work` on the f32 values of CPU tensors.
pub fn with_values<const N: usize, T>(
    tensors: [&Tensor; N],
    work: impl FnOnce([&[f32]; N]) -> T,
) -> Result<T> {
    let contiguous =
        tensors.iter().map(|tensor| tensor.contiguous()).collect::<Result<Vec<_>>>()?;
    let guards: Vec<_> = contiguous.iter().map(Tensor::storage_and_layout).collect();
    let mut slices = [&[][..]; N];
    for (slice, (storage, layout)) in slices.iter_mut().zip(&guards) {
        let Storage::Cpu(storage) = &**storage else { bail!("CPU operation: not on the CPU") };
        *slice = values(storage, layout)?;
    }
    Ok(work(slices))
}
