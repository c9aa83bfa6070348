//! A residual connection with its layer norm: parameters and gradients.

use candle_core::Tensor;

/// Added to the variance in a layer norm (PyTorch's default).
pub const LAYER_NORM_EPSILON: f32 = 1e-5;

/// The parameters of a residual connection and its layer norm. Each has the width of the rows.
#[derive(Clone, Debug)]
pub struct AddNorm {
    /// Bias of the matrix product whose result is added.
    pub bias: Tensor,
    /// Scale of the normalised values.
    pub weight: Tensor,
    /// Added to the scaled values.
    pub shift: Tensor,
}

/// Gradients of [`super::add_norm`].
pub struct AddNormBack {
    /// Gradient of the residual `x`.
    pub x: Tensor,
    /// Gradient of `branch`; the sum of its rows is the gradient of the bias.
    pub branch: Tensor,
    /// Gradient of [`AddNorm::weight`].
    pub weight: Tensor,
    /// Gradient of [`AddNorm::shift`].
    pub shift: Tensor,
}
