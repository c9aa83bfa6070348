//! The device of the encoder, and its precision.

use std::sync::Arc;

#[cfg(feature = "cuda")]
use anyhow::Context;
#[cfg(not(feature = "cuda"))]
use anyhow::bail;
use anyhow::{Result, ensure};
use azimuth_network::Architecture;
use candle_core::{DType, Device};
use clap::ValueEnum;

#[cfg(feature = "cuda")]
use crate::encoder::without_backtrace;

/// Shows a message to the user that does not end the search.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

/// The device of the encoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A GPU if there is one and the encoder supports it, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The first CUDA device.
    Cuda,
}

/// Precision of the encoder's arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    /// bf16 on a GPU (f16 before Ampere), f32 on the CPU.
    #[default]
    Auto,
    /// 32 bits.
    F32,
    /// 16 bits, IEEE.
    F16,
    /// 16 bits, bfloat16, with the range of f32.
    Bf16,
}

impl Backend {
    /// The device. Fails if a CUDA device is requested and there is none.
    pub fn device(self) -> Result<Device> {
        self.numbered(0)
    }

    /// Like [`Self::device`], with the CUDA device `number`, counted from 0.
    pub fn numbered(self, number: usize) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::Cpu),
            Self::Auto => Ok(cuda(number).unwrap_or(Device::Cpu)),
            Self::Cuda => cuda(number),
        }
    }

    /// Opens the device for an encoder, in a precision that the device supports. `notice` receives
    /// the GPU in use, and each request that cannot be met. Fails if a CUDA device is requested and
    /// there is none.
    pub fn open(
        self,
        precision: Precision,
        architecture: &Architecture,
        notice: impl Fn(&str),
    ) -> Result<(Device, DType)> {
        let sparse = matches!(architecture, Architecture::Sparse(_));
        let backend = if sparse && self == Self::Auto { Self::Cpu } else { self };
        let device = backend.device()?;
        if sparse && !device.is_cpu() {
            notice("Backend cuda: the sparse encoder runs on the CPU");
            return Ok((Device::Cpu, DType::F32));
        }
        let dtype = precision.dtype(&device).unwrap_or_else(|error| {
            notice(&format!("Precision: {error}"));
            DType::F32
        });
        if !device.is_cpu() {
            notice(&format!("the encoder runs on {} in {}", name(&device), dtype.as_str()));
        }
        Ok((device, dtype))
    }
}

impl Precision {
    /// The data type on `device`. Fails if 16 bits are requested on a CPU.
    pub fn dtype(self, device: &Device) -> Result<DType> {
        let dtype = match self {
            Self::Auto if device.is_cpu() => DType::F32,
            Self::Auto if !has_bf16(device) => DType::F16,
            Self::Auto | Self::Bf16 => DType::BF16,
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
        };
        ensure!(!device.is_cpu() || dtype == DType::F32, "the CPU computes in f32");
        Ok(dtype)
    }
}

/// The first CUDA device. Fails if the machine or this build has none.
#[cfg(feature = "cuda")]
fn cuda(number: usize) -> Result<Device> {
    // One stream for all threads.
    let device = Device::new_cuda_with_stream(number).map_err(without_backtrace);
    let device = device.with_context(|| match number {
        0 => "no CUDA device".to_owned(),
        _ => format!("no CUDA device {number}, counted from 0"),
    })?;
    // SAFETY: the one stream orders all work. The encoder copies batches on another stream, and
    // makes the first one wait for the copies.
    unsafe {
        device.as_cuda_device()?.disable_event_tracking();
    }
    keep_freed_memory(device.as_cuda_device()?)
        .context("cannot configure the CUDA device's memory pool")?;
    Ok(device)
}

/// Keeps freed memory in the device's pool for the next allocations. By default, the driver returns
/// it to the system whenever the program waits for the device, and allocates it anew afterwards.
#[cfg(feature = "cuda")]
fn keep_freed_memory(device: &candle_core::CudaDevice) -> Result<()> {
    use candle_core::cuda_backend::cudarc::driver::{result, sys};

    let stream = device.cuda_stream();
    let context = stream.context();
    if !context.has_async_alloc() {
        return Ok(());
    }
    let mut threshold = u64::MAX;
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the context's device is valid, and the attribute's type is that of the threshold.
    unsafe {
        let pool = result::device::get_default_mem_pool(context.cu_device())?;
        result::mem_pool::set_attribute(pool, attribute, (&raw mut threshold).cast())?;
    }
    Ok(())
}

/// Fails, because this build has no CUDA.
#[cfg(not(feature = "cuda"))]
fn cuda(_number: usize) -> Result<Device> {
    bail!("this build of Azimuth is without CUDA; `--features cuda` builds it in (docs/gpu.md)")
}

/// Name of a device: `cpu`, or the card's name.
pub fn name(device: &Device) -> String {
    match device {
        #[cfg(feature = "cuda")]
        Device::Cuda(device) => {
            device.cuda_stream().context().name().unwrap_or_else(|_| "cuda".to_owned())
        }
        _ => "cpu".to_owned(),
    }
}

/// Whether a GPU supports matrix products in bf16.
#[cfg(feature = "cuda")]
fn has_bf16(device: &Device) -> bool {
    let device = device.as_cuda_device().ok();
    let capability = device.and_then(|d| d.cuda_stream().context().compute_capability().ok());
    capability.is_some_and(|(major, _)| major >= 8)
}

#[cfg(not(feature = "cuda"))]
fn has_bf16(_device: &Device) -> bool {
    false
}
