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
    AddNorm, AddNormBack, DropoutMask, LAYER_NORM_EPSILON, Operations, column_sums,
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

/// Softmax attention. `packed`, (batch, length, 3H), contains queries, keys and values without
/// their `bias` (3H), in `heads` heads of H / heads each; the result is (batch, length, H). `mask`
/// drops attention weights.
pub fn attention(
    operations: Operations,
    packed: &Tensor,
    bias: &Tensor,
    heads: usize,
    mask: DropoutMask,
) -> Result<Tensor> {
    match path(operations, packed) {
        Path::Cpu => cpu::attention(packed, bias, heads, mask),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_attention(packed, heads)? => {
            cuda::attention(packed, bias, heads, mask)
        }
        _ => reference::attention(packed, bias, heads, mask),
    }
}

/// Gradient of [`attention`] with respect to `packed`, given the gradient of its result. The sum of
/// the returned rows is the gradient of the bias.
pub fn attention_back(
    packed: &Tensor,
    bias: &Tensor,
    heads: usize,
    mask: DropoutMask,
    gradient: &Tensor,
) -> Result<Tensor> {
    match path(Operations::Fused, packed) {
        Path::Cpu => cpu::attention_back(packed, bias, heads, mask, gradient),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_attention_back(packed, heads)? => {
            cuda::attention_back(packed, bias, heads, mask, gradient)
        }
        _ => {
            let attend = |packed: &[Tensor]| reference::attention(&packed[0], bias, heads, mask);
            let [gradients] = reference::gradients(attend, [packed], gradient)?;
            Ok(gradients)
        }
    }
}

/// `GELU(x + bias)` with the exact Gaussian distribution; `x` is (rows, width).
pub fn gelu(
    operations: Operations,
    x: &Tensor,
    bias: &Tensor,
    mask: DropoutMask,
) -> Result<Tensor> {
    match path(operations, x) {
        Path::Cpu => cpu::gelu(x, bias, mask),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_rows(x)? => cuda::gelu(x, bias, mask),
        _ => reference::gelu(x, bias, mask),
    }
}

/// Gradient of [`gelu`] with respect to `x`, given the gradient of its result. The sum of the
/// returned rows is the gradient of the bias.
pub fn gelu_back(
    x: &Tensor,
    bias: &Tensor,
    mask: DropoutMask,
    gradient: &Tensor,
) -> Result<Tensor> {
    match path(Operations::Fused, x) {
        Path::Cpu => cpu::gelu_back(x, bias, mask, gradient),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_rows(x)? => cuda::gelu_back(x, bias, mask, gradient),
        _ => {
            let activate = |x: &[Tensor]| reference::gelu(&x[0], bias, mask);
            let [gradients] = reference::gradients(activate, [x], gradient)?;
            Ok(gradients)
        }
    }
}

/// Layer norm of `x + mask(branch + bias)`; `x` and `branch` are (rows, width).
pub fn add_norm(
    operations: Operations,
    x: &Tensor,
    branch: &Tensor,
    parameters: &AddNorm,
    mask: DropoutMask,
) -> Result<Tensor> {
    match path(operations, x) {
        Path::Cpu => cpu::add_norm(x, branch, parameters, mask),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_norm(x)? => cuda::add_norm(x, branch, parameters, mask),
        _ => reference::add_norm(x, branch, parameters, mask),
    }
}

/// Gradients of [`add_norm`], given the gradient of its result.
pub fn add_norm_back(
    x: &Tensor,
    branch: &Tensor,
    parameters: &AddNorm,
    mask: DropoutMask,
    gradient: &Tensor,
) -> Result<AddNormBack> {
    match path(Operations::Fused, x) {
        Path::Cpu => cpu::add_norm_back(x, branch, parameters, mask, gradient),
        #[cfg(feature = "cuda")]
        Path::Cuda if cuda::takes_norm(x)? => {
            cuda::add_norm_back(x, branch, parameters, mask, gradient)
        }
        _ => reference::add_norm_back(x, branch, parameters, mask, gradient),
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
