//! The feature sums and their activations on a device, and the way back to the table.

use candle_core::{Result, Tensor};

use super::features::FeatureBatch;
use crate::fused::{Bags, activated_sums, activated_sums_back};

/// A batch's feature sums.
pub struct DeviceSums {
    bags: Bags,
    /// `clamp(x, 0, 1)²` of the sums: two rows of H a position, side to move first.
    activations: Tensor,
}

impl DeviceSums {
    /// Sums the active rows of `table` (rows x H) plus `bias` (H) for each position.
    pub fn new(features: &FeatureBatch, table: &Tensor, bias: &Tensor) -> Result<Self> {
        let (mut rows, mut ends) = (Vec::with_capacity(features.rows().len()), Vec::new());
        rows.extend(features.rows().iter().map(|&row| u32::from(row)));
        let mut end = 0;
        for features in features.iter() {
            for side in [features.own, features.other] {
                end += side.len() as u32;
                ends.push(end);
            }
        }
        let bags = Bags::new(rows, ends, table.device())?;
        let activations = activated_sums(table, bias, &bags)?;
        Ok(Self { bags, activations })
    }

    /// The activations: batch x 2H, with no way back that candle knows.
    pub fn activations(&self) -> Result<Tensor> {
        let (sides, width) = self.activations.dims2()?;
        self.activations.reshape((sides / 2, 2 * width))
    }

    /// Gradients of the table, which has `rows`, and of the bias, given that of the activations.
    pub fn backward(&self, gradient: &Tensor, rows: usize) -> Result<(Tensor, Tensor)> {
        let gradient = gradient.reshape(self.activations.shape())?;
        activated_sums_back(&self.activations, &gradient, &self.bags, rows)
    }
}
