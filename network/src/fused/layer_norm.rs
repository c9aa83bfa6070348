//! A residual connection with its layer norm: parameters and gradients.

use candle_core::Tensor;

/// What is added to the variance in a layer norm (PyTorch's default).
pub const LAYER_NORM_EPSILON: f32 = 1e-5;

/// The parameters of a residual connection and its layer norm, each of the rows' width.
#[derive(Clone, Debug)]
pub struct AddNorm {
    /// Of the matrix product whose result is added.
    pub bias: Tensor,
    /// What the normed values are multiplied with.
    pub weight: Tensor,
    /// What is added to them then.
    pub shift: Tensor,
}

/// Gradients of [`super::add_norm`].
pub struct AddNormBack {
    /// Along the residual `x`.
    pub x: Tensor,
    /// Along `branch`; the sum of its rows is the bias's.
    pub branch: Tensor,
    /// Along [`AddNorm::weight`].
    pub weight: Tensor,
    /// Along [`AddNorm::shift`].
    pub shift: Tensor,
}
