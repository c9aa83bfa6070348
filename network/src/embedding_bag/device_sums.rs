//! Activated sums of bags on a device, with their gradient.

use candle_core::{Result, Tensor};

use super::Bags;
use crate::fused::{activated_sums, activated_sums_back};

/// The activations of a batch's sums. candle cannot differentiate them; [`Self::backward`] does.
pub struct DeviceSums {
    bags: Bags,
    activations: Tensor,
}

impl DeviceSums {
    /// Sums the rows of `table` (rows x H) in each bag plus `bias` (H).
    pub fn new(bags: Bags, table: &Tensor, bias: &Tensor) -> Result<Self> {
        let activations = activated_sums(table, bias, &bags)?;
        Ok(Self { bags, activations })
    }

    /// `clamp(x, 0, 1)²` of the sums: bags x H.
    pub fn activations(&self) -> &Tensor {
        &self.activations
    }

    /// Gradients of the table, which has `rows` rows, and of the bias, given the gradient of the
    /// activations.
    pub fn backward(&self, gradient: &Tensor, rows: usize) -> Result<(Tensor, Tensor)> {
        let gradient = gradient.reshape(self.activations.shape())?;
        activated_sums_back(&self.activations, &gradient, &self.bags, rows)
    }
}
