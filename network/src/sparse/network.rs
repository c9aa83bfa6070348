//! The sparse encoder: its sizes and parameters, and the network for training, from features to the
//! space.

use anyhow::{Result, ensure};
use candle_core::{Module, Result as CandleResult, Tensor};
use candle_nn::Linear;
use serde::{Deserialize, Serialize};

use super::features::{FeatureBatch, FeatureSet};
use super::head_layers::{AllLayers, unit_embeddings};
use crate::embedding_bag::{DeviceSums, GradientSink, activations};
use crate::normalize::normalize;
use crate::parameters::{Init, ParameterSpec, Parameters, linear};

/// Width of the layer between the feature sums and the embedding.
pub const HIDDEN: usize = 32;

/// Pieces on a full board.
pub const MAX_PIECES: usize = 32;

/// Maximum number of layers after the hidden layer.
const MAX_MIDDLE_LAYERS: usize = 4;

/// The width of the feature sums is a multiple of this, so that every SIMD kernel fits.
pub const ACCUMULATOR_BLOCK: usize = 128;

/// Sizes of a sparse encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SparseConfig {
    /// The feature set.
    pub features: FeatureSet,
    /// Width of one side's feature sum (H).
    pub accumulator: usize,
    /// Dimension of the embedding (D).
    pub embedding_dim: usize,
    /// Number of heads: copies of the layers after the sums, each for a range of piece counts.
    #[serde(default = "one_head")]
    pub heads: usize,
    /// Layers of [`HIDDEN`] neurons that follow the hidden layer.
    #[serde(default)]
    pub middle_layers: usize,
}

fn one_head() -> usize {
    1
}

impl SparseConfig {
    /// Index of the head for a position with `pieces` pieces.
    #[inline]
    pub fn head(&self, pieces: usize) -> usize {
        head_of(pieces, self.heads)
    }

    /// Checks that the integer path can run these sizes.
    pub fn check(&self) -> Result<()> {
        let sizes = [self.accumulator, self.embedding_dim];
        ensure!(sizes.iter().all(|size| (1..=1 << 16).contains(size)), "a size is out of range");
        let middle = self.middle_layers;
        ensure!(
            middle <= MAX_MIDDLE_LAYERS,
            "middle layers {middle}: not 0 to {MAX_MIDDLE_LAYERS}"
        );
        ensure!((1..=MAX_PIECES).contains(&self.heads), "heads {}: not 1 to 32", self.heads);
        ensure!(
            self.accumulator.is_multiple_of(ACCUMULATOR_BLOCK),
            "accumulator width {} is not a multiple of {ACCUMULATOR_BLOCK}",
            self.accumulator
        );
        Ok(())
    }

    /// Every parameter of the weights file. The table is initialised with small values, so that a
    /// sum of thirty rows stays inside the activation's range.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        let mut specs = vec![
            ParameterSpec::new(
                "features.weight",
                &[self.features.rows(), self.accumulator],
                Init::Normal(0.06),
            ),
            ParameterSpec::new("features.bias", &[self.accumulator], Init::Constant(0.3)),
        ];
        specs.extend(linear("hidden", 2 * self.accumulator, self.heads * HIDDEN));
        if self.middle_layers > 0 {
            specs.extend(linear("middle", HIDDEN, self.heads * self.middle_layers * HIDDEN));
        }
        specs.extend(linear("projection", HIDDEN, self.heads * self.embedding_dim));
        specs
    }
}

/// Index, among `heads`, of the head for a position with `pieces` pieces: each head covers an equal
/// share of the 32 piece counts.
fn head_of(pieces: usize, heads: usize) -> usize {
    pieces.clamp(1, MAX_PIECES).saturating_sub(1) * heads / MAX_PIECES
}

/// The sparse encoder as a function of its parameters.
pub struct SparseNetwork {
    table: Tensor,
    bias: Tensor,
    hidden: Linear,
    middle: Option<Linear>,
    projection: Linear,
    heads: usize,
}

impl SparseNetwork {
    /// Builds the network over `parameters`; it sees later changes of their variables.
    pub fn new(config: &SparseConfig, parameters: &Parameters) -> Result<Self> {
        Ok(Self {
            table: parameters.get("features.weight")?,
            bias: parameters.get("features.bias")?,
            hidden: parameters.linear("hidden")?,
            middle: match config.middle_layers {
                0 => None,
                _ => Some(parameters.linear("middle")?),
            },
            projection: parameters.linear("projection")?,
            heads: config.heads,
        })
    }

    /// Unit embeddings (batch x D) on the CPU; `sink` receives the table's gradient.
    pub fn forward(
        &self,
        features: &FeatureBatch,
        sink: Option<&GradientSink>,
    ) -> CandleResult<Tensor> {
        let active = by_position(&activations(&self.table, &self.bias, features.bags(), sink)?)?;
        unit_embeddings(&active, &self.layers(), self.heads_of(features))
    }

    /// Feature sums on a device, with the rows of `table` instead of the stored ones.
    pub fn device_sums(&self, features: &FeatureBatch, table: &Tensor) -> CandleResult<DeviceSums> {
        DeviceSums::new(features.bags(), table, &self.bias.detach())
    }

    /// Unit embeddings (batch x D) on any device, given the activations of the feature sums: two
    /// rows of H per position.
    pub fn after_sums(
        &self,
        activations: &Tensor,
        features: &FeatureBatch,
    ) -> CandleResult<Tensor> {
        self.composed(&by_position(activations)?, &self.heads_of(features))
    }

    fn heads_of(&self, features: &FeatureBatch) -> Vec<usize> {
        features.iter().map(|features| head_of(features.pieces, self.heads)).collect()
    }

    fn layers(&self) -> AllLayers<'_> {
        AllLayers {
            hidden: &self.hidden,
            middle: self.middle.as_ref(),
            projection: &self.projection,
            heads: self.heads,
        }
    }

    /// The layers after the sums, composed of candle's operations. Every head is computed for every
    /// position and all but one are masked, which is faster on a device than selecting heads.
    fn composed(&self, active: &Tensor, heads: &[usize]) -> CandleResult<Tensor> {
        let mut chosen = vec![0f32; heads.len() * self.heads];
        for (chosen, &head) in chosen.chunks_exact_mut(self.heads).zip(heads) {
            chosen[head] = 1.0;
        }
        let chosen = Tensor::from_vec(chosen, (heads.len(), self.heads, 1), active.device())?;
        let mut hidden = chosen_outputs(&self.hidden, active, &chosen)?.relu()?;
        if let Some(middle) = &self.middle {
            for number in 0..middle.weight().dim(0)? / (self.heads * HIDDEN) {
                let layer = self.middle_layer(middle, number)?;
                hidden = chosen_outputs(&layer, &hidden, &chosen)?.relu()?;
            }
        }
        Ok(normalize(&chosen_outputs(&self.projection, &hidden, &chosen)?)?.1)
    }

    /// One of the middle layers, for all heads.
    fn middle_layer(&self, all: &Linear, number: usize) -> CandleResult<Linear> {
        let part = |tensor: &Tensor, width: usize| {
            let count = tensor.dim(0)? / (self.heads * HIDDEN);
            let by_head = tensor.reshape((self.heads, count, HIDDEN * width))?;
            by_head.narrow(1, number, 1)?.reshape((self.heads * HIDDEN, width))
        };
        let bias = all.bias().map(|bias| part(bias, 1)?.flatten_all()).transpose()?;
        Ok(Linear::new(part(all.weight(), HIDDEN)?, bias))
    }
}

/// The rows of both sides of each position (2n x H) side by side: n x 2H.
fn by_position(sides: &Tensor) -> CandleResult<Tensor> {
    let (count, width) = sides.dims2()?;
    sides.reshape((count / 2, 2 * width))
}

/// Selects one head's output for each input, from a layer of all heads: that of the head that is 1
/// in `chosen` (batch x heads x 1).
fn chosen_outputs(layer: &Linear, input: &Tensor, chosen: &Tensor) -> CandleResult<Tensor> {
    let (batch, heads, _) = chosen.dims3()?;
    let all = layer.forward(input)?;
    let outputs = all.dim(1)? / heads;
    all.reshape((batch, heads, outputs))?.broadcast_mul(chosen)?.sum(1)
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, Var};

    use super::*;

    #[test]
    fn the_fused_layers_are_those_composed_and_so_are_their_gradients() -> Result<()> {
        for middle in [0, 2] {
            compare(middle)?;
        }
        Ok(())
    }

    fn compare(middle: usize) -> Result<()> {
        let (inputs, dim, count) = (256, 16, 3);
        let device = Device::Cpu;
        let variable = |shape: &[usize]| Var::randn(0f32, 0.3, shape, &device);
        let active = variable(&[7, inputs])?;
        let layers = [
            variable(&[count * HIDDEN, inputs])?,
            variable(&[count * HIDDEN])?,
            variable(&[count * dim, HIDDEN])?,
            variable(&[count * dim])?,
            variable(&[count * middle * HIDDEN, HIDDEN])?,
            variable(&[count * middle * HIDDEN])?,
        ];
        let linear = |first: usize| {
            Linear::new(
                layers[first].as_tensor().clone(),
                Some(layers[first + 1].as_tensor().clone()),
            )
        };
        let table = Tensor::zeros((1, inputs / 2), DType::F32, &device)?;
        let network = SparseNetwork {
            bias: table.flatten_all()?,
            table,
            hidden: linear(0),
            middle: (middle > 0).then(|| linear(4)),
            projection: linear(2),
            heads: count,
        };
        let heads = vec![0, 2, 1, 1, 0, 2, 1];
        let composed = network.composed(active.as_tensor(), &heads)?;
        let fused = unit_embeddings(active.as_tensor(), &network.layers(), heads)?;
        let direction = Tensor::randn(0f32, 1.0, composed.shape(), &device)?;
        let gradients = [&composed, &fused].map(|z| (z * &direction)?.sum_all()?.backward());
        let [expected, found] = gradients;
        let (expected, found) = (expected?, found?);
        let close = |a: &Tensor, b: &Tensor| -> Result<()> {
            let most = (a - b)?.abs()?.flatten_all()?.max(0)?.to_scalar::<f32>()?;
            let scale = a.abs()?.flatten_all()?.max(0)?.to_scalar::<f32>()?;
            anyhow::ensure!(most < 1e-4 * scale.max(1.0), "{most} of {scale} apart");
            Ok(())
        };
        close(&composed, &fused)?;
        let used = if middle > 0 { 6 } else { 4 };
        for variable in layers[..used].iter().chain([&active]) {
            let of = |store: &candle_core::backprop::GradStore| {
                store
                    .get(variable.as_tensor())
                    .cloned()
                    .ok_or_else(|| anyhow::anyhow!("no gradient"))
            };
            close(&of(&expected)?, &of(&found)?)?;
        }
        Ok(())
    }
}
