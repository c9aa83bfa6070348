//! The paper's encoder (section 3.2): a post-norm transformer over 77 tokens and a CLS token,
//! projected and scaled to unit length.
//!
//! Layers are PyTorch's `nn.TransformerEncoderLayer` in its default form and parameters carry the
//! names of the authors' published code, so that a checkpoint converts key by key.

#[cfg(feature = "cuda")]
mod async_transfer;
mod config;
mod cpu_encoder;
#[cfg(feature = "cuda")]
mod gpu_encoder;
mod network;

pub use config::TransformerConfig;
pub use cpu_encoder::CpuTransformer;
#[cfg(feature = "cuda")]
pub use gpu_encoder::GpuTransformer;
pub use network::{Dropout, Trace, Transformer, token_ids};
