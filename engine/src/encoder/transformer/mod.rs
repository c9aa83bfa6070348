//! The transformer for play, on the CPU and on a GPU.

#[cfg(feature = "cuda")]
mod async_transfer;
mod cpu_encoder;
#[cfg(feature = "cuda")]
mod gpu_encoder;

pub use cpu_encoder::CpuTransformer;
#[cfg(feature = "cuda")]
pub use gpu_encoder::GpuTransformer;
