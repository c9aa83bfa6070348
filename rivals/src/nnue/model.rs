//! The network for training, in floats.

use azimuth_network::embedding_bag::sums;
use candle_core::{Module, Result, Tensor};
use candle_nn::{Init, Linear, VarBuilder, linear};
use cozy_chess::Board;
use serde::{Deserialize, Serialize};

use super::features::{FEATURES, bags};

/// Sizes of the network.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NnueConfig {
    /// Neurons of the first layer for each side.
    pub half: usize,
    /// Neurons of the second layer, which takes both sides' outputs.
    pub first: usize,
    /// Neurons of the third layer.
    pub second: usize,
}

/// Maps positions to the logit of the side to move's win probability.
pub struct NnueNetwork {
    table: Tensor,
    bias: Tensor,
    layers: [Linear; 3],
}

impl NnueNetwork {
    /// A network with the parameters `half.weight`, `half.bias`, `first`, `second` and `value`.
    pub fn new(config: NnueConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        let NnueConfig { half, first, second } = config;
        // About 30 rows are summed.
        let rows = Init::Randn { mean: 0.0, stdev: 0.05 };
        Ok(Self {
            table: vb.get_with_hints((FEATURES, half), "half.weight", rows)?,
            bias: vb.get_with_hints(half, "half.bias", Init::Const(0.3))?,
            layers: [
                linear(2 * half, first, vb.pp("first"))?,
                linear(first, second, vb.pp("second"))?,
                linear(second, 1, vb.pp("value"))?,
            ],
        })
    }

    /// The logits of positions.
    pub fn logits<'a>(&self, boards: impl ExactSizeIterator<Item = &'a Board>) -> Result<Tensor> {
        let count = boards.len();
        let halves = sums(&self.table, &self.bias, bags(boards))?;
        let [first, second, value] = &self.layers;
        let halves = clipped_relu(&halves)?.reshape((count, ()))?;
        let hidden = clipped_relu(&first.forward(&halves)?)?;
        value.forward(&clipped_relu(&second.forward(&hidden)?)?)?.squeeze(1)
    }
}

fn clipped_relu(x: &Tensor) -> Result<Tensor> {
    x.clamp(0f32, 1f32)
}
