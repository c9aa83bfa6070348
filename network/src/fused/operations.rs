//! The choice of operations that compute a network.

use candle_core::{Result, Tensor};

use super::dropout_mask::DropoutMask;
use super::layer_norm::AddNorm;
use super::reference;

/// The operations of a transformer, from tokens to the space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operations {
    /// Fused operations where they exist for the shape and device.
    #[default]
    Fused,
    /// Only candle's operations.
    Composed,
}

impl Operations {
    /// [`super::embed`]
    pub fn embed(self, ids: &Tensor, table: &Tensor, positional: &Tensor) -> Result<Tensor> {
        match self {
            Self::Fused => super::embed(ids, table, positional),
            Self::Composed => reference::embed(ids, table, positional),
        }
    }

    /// [`super::attention`]
    pub fn attention(
        self,
        packed: &Tensor,
        bias: &Tensor,
        heads: usize,
        mask: DropoutMask,
    ) -> Result<Tensor> {
        match self {
            Self::Fused => super::attention(packed, bias, heads, mask),
            Self::Composed => reference::attention(packed, bias, heads, mask),
        }
    }

    /// [`super::gelu`]
    pub fn gelu(self, x: &Tensor, bias: &Tensor, mask: DropoutMask) -> Result<Tensor> {
        match self {
            Self::Fused => super::gelu(x, bias, mask),
            Self::Composed => reference::gelu(x, bias, mask),
        }
    }

    /// [`super::add_norm`]
    pub fn add_norm(
        self,
        x: &Tensor,
        branch: &Tensor,
        parameters: &AddNorm,
        mask: DropoutMask,
    ) -> Result<Tensor> {
        match self {
            Self::Fused => super::add_norm(x, branch, parameters, mask),
            Self::Composed => reference::add_norm(x, branch, parameters, mask),
        }
    }
}
