//! The transformer for play, on the CPU and on a GPU.

mod cpu_encoder;
#[cfg(feature = "cuda")]
mod gpu_encoder;

pub use cpu_encoder::CpuTransformer;
#[cfg(feature = "cuda")]
pub use gpu_encoder::GpuTransformer;
