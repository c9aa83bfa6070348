//! The network for training, in floats.

use std::iter::repeat_n;

use azimuth_network::embedding_bag::{Bags, sums};
use candle_core::{Module, Result, Tensor};
use candle_nn::{Init, VarBuilder};
use cozy_chess::Board;
use serde::{Deserialize, Serialize};

use super::features::{FEATURES, bags};
use crate::network::{Linear, clipped_relu, linear};

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
        // The values are small because about 30 rows are summed.
        let rows = Init::Randn { mean: 0.0, stdev: 0.05 };
        Ok(Self {
            table: vb.get_with_hints((FEATURES, half), "half.weight", rows)?,
            bias: vb.get_with_hints(half, "half.bias", Init::Const(0.3))?,
            layers: [
                linear(2 * half, first, &vb.pp("first"))?,
                linear(first, second, &vb.pp("second"))?,
                linear(second, 1, &vb.pp("value"))?,
            ],
        })
    }

    /// The logits of positions.
    pub fn logits<'a>(&self, boards: impl ExactSizeIterator<Item = &'a Board>) -> Result<Tensor> {
        let count = boards.len();
        let bags = bags(boards);
        let halves = match self.table.device().is_cpu() {
            true => sums(&self.table, &self.bias, bags)?,
            false => selected_sums(&self.table, &self.bias, &bags)?,
        };
        let [first, second, value] = &self.layers;
        let halves = clipped_relu(&halves)?.reshape((count, ()))?;
        let hidden = clipped_relu(&first.forward(&halves)?)?;
        value.forward(&clipped_relu(&second.forward(&hidden)?)?)?.squeeze(1)
    }
}

/// The sums by candle's operations, for a device: bags x H.
fn selected_sums(table: &Tensor, bias: &Tensor, bags: &Bags) -> Result<Tensor> {
    let rows: Vec<u32> = bags.rows().iter().map(|&row| row.into()).collect();
    let places = bags.iter().enumerate();
    let places: Vec<u32> =
        places.flat_map(|(bag, rows)| repeat_n(bag as u32, rows.len())).collect();
    let [rows, places] =
        [rows, places].map(|numbers| Tensor::from_slice(&numbers, numbers.len(), table.device()));
    let sums = Tensor::zeros((bags.len(), table.dim(1)?), table.dtype(), table.device())?;
    sums.index_add(&places?, &table.index_select(&rows?, 0)?, 0)?.broadcast_add(bias)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;
    use crate::network::assert_agree;

    #[test]
    fn a_device_computes_the_same_sums_and_gradients() -> Result<()> {
        let endgame = "4k3/8/8/8/8/8/1P6/R3K3 w Q - 0 1".parse().expect("valid");
        let boards = [Board::startpos(), endgame];
        let table = Var::randn(0f32, 1.0, (FEATURES, 4), &Device::Cpu)?;
        let bias = Var::randn(0f32, 1.0, 4, &Device::Cpu)?;
        let known = sums(&table, &bias, bags(boards.iter()))?;
        let found = selected_sums(&table, &bias, &bags(boards.iter()))?;
        assert_agree(&found, &known, &[&table, &bias], [1e-4; 2])
    }
}
