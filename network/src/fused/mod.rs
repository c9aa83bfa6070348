//! Operations that candle has no fused kernels for.
//!
//! - Of the transformer: attention with its softmax, bias + exact GELU, and residual + layer norm,
//!   each with the bias of the preceding matrix product, its dropout and its gradient; and token
//!   embedding with positional embedding. Each is one pass: f32 on the CPU; f32, f16 and bf16 on
//!   CUDA.
//! - Of the sparse encoder, for training on CUDA: the feature sums with their activations, which
//!   [`crate::embedding_bag::DeviceSums`] calls.
//!
//! [`mod@reference`] composes the same operations from candle's. It runs where no fused operation
//! fits, for example for a head wider than the kernels support. Tests compare the fused operations
//! with it.

mod cpu;
#[cfg(any(feature = "cuda", test))]
pub(crate) mod cuda;
pub mod numerics;
mod operations;
pub mod reference;

use candle_core::{DType, Result, Tensor};

pub use operations::{
    AddNorm, AddNormBack, Attention, DropoutMask, Gelu, LAYER_NORM_EPSILON, Operations, Residual,
    column_sums,
};

/// The rows of `table` (ids x H) for the `ids` (batch x length, u8), plus the rows of `positional`
/// (length x H) for their positions: (batch * length x H).
pub fn embed(
    operations: Operations,
    ids: &Tensor,
    table: &Tensor,
    positional: &Tensor,
) -> Result<Tensor> {
    match path(operations, table) {
        Path::Cpu => cpu::embed(ids, table, positional),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_rows(table)? => cuda::embed(ids, table, positional),
        _ => reference::embed(ids, table, positional),
    }
}

/// Softmax attention: (batch, length, H).
pub fn attention(operations: Operations, input: Attention<'_>) -> Result<Tensor> {
    match path(operations, input.packed) {
        Path::Cpu => cpu::attention(input),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_attention(input.packed, input.heads)? => cuda::attention(input),
        _ => reference::attention(input),
    }
}

/// Gradient of [`attention`] with respect to `packed`, given the gradient of its result. The sum of
/// the returned rows is the gradient of the bias.
pub fn attention_back(input: Attention<'_>, gradient: &Tensor) -> Result<Tensor> {
    match path(Operations::Fused, input.packed) {
        Path::Cpu => cpu::attention_back(input, gradient),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_attention_back(input.packed, input.heads)? => {
            cuda::attention_back(input, gradient)
        }
        _ => reference::attention_back(input, gradient),
    }
}

/// `GELU(x + bias)` with the exact Gaussian distribution.
pub fn gelu(operations: Operations, input: Gelu<'_>) -> Result<Tensor> {
    match path(operations, input.x) {
        Path::Cpu => cpu::gelu(input),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_rows(input.x)? => cuda::gelu(input),
        _ => reference::gelu(input),
    }
}

/// Gradient of [`gelu`] with respect to `x`, given the gradient of its result. The sum of the
/// returned rows is the gradient of the bias.
pub fn gelu_back(input: Gelu<'_>, gradient: &Tensor) -> Result<Tensor> {
    match path(Operations::Fused, input.x) {
        Path::Cpu => cpu::gelu_back(input, gradient),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_rows(input.x)? => cuda::gelu_back(input, gradient),
        _ => reference::gelu_back(input, gradient),
    }
}

/// Layer norm of `x + mask(branch + bias)`.
pub fn add_norm(operations: Operations, input: Residual<'_>) -> Result<Tensor> {
    match path(operations, input.x) {
        Path::Cpu => cpu::add_norm(input),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_norm(input.x)? => cuda::add_norm(input),
        _ => reference::add_norm(input),
    }
}

/// Gradients of [`add_norm`], given the gradient of its result.
pub fn add_norm_back(input: Residual<'_>, gradient: &Tensor) -> Result<AddNormBack> {
    match path(Operations::Fused, input.x) {
        Path::Cpu => cpu::add_norm_back(input, gradient),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_norm(input.x)? => cuda::add_norm_back(input, gradient),
        _ => reference::add_norm_back(input, gradient),
    }
}

/// The backend of the fused operation for a tensor.
enum Path {
    Cpu,
    #[cfg(feature = "cuda")]
    Cuda,
    Nobody,
}

fn path(operations: Operations, x: &Tensor) -> Path {
    match (x.device().is_cpu(), x.dtype()) {
        _ if operations == Operations::Composed => Path::Nobody,
        (true, DType::F32) => Path::Cpu,
        #[cfg(feature = "cuda")]
        (false, DType::F32 | DType::F16 | DType::BF16) => Path::Cuda,
        _ => Path::Nobody,
    }
}

#[cfg(test)]
pub(crate) mod tests;
