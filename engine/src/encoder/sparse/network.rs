//! The sparse encoder as a network: from features to the space, as training runs it.

use std::sync::Arc;

use anyhow::Result;
use candle_core::{Module, Result as CandleResult, Tensor};
use candle_nn::Linear;

use super::config::{HIDDEN, SparseConfig, head};
use super::embedding_bag::{GradientSink, activated_bag};
use super::features::FeatureBatch;
use super::head_layers::{AllLayers, unit_embeddings};
use crate::encoder::normalize::normalize;
use crate::encoder::parameters::Parameters;

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
    /// Builds the network over `parameters`; a change of a variable among them is seen at once.
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

    /// Unit embeddings (batch x D). `table` overrides the stored one where it is recomputed from
    /// others at every step; `sink` takes the table's gradient on the CPU. Positions of one head
    /// should be neighbours: each run of them is one matrix product.
    pub fn forward(
        &self,
        features: &Arc<FeatureBatch>,
        table: Option<&Tensor>,
        sink: Option<&GradientSink>,
    ) -> CandleResult<Tensor> {
        let active = activated_bag(table.unwrap_or(&self.table), &self.bias, features, sink)?;
        let heads: Vec<usize> = features.iter().map(|f| head(f.pieces, self.heads)).collect();
        if active.device().is_cpu() {
            return unit_embeddings(&active, &self.layers(), heads);
        }
        self.composed(&active, &heads)
    }

    fn layers(&self) -> AllLayers<'_> {
        AllLayers {
            hidden: &self.hidden,
            middle: self.middle.as_ref(),
            projection: &self.projection,
            heads: self.heads,
        }
    }

    /// The layers after the sums, of candle's operations.
    fn composed(&self, active: &Tensor, heads: &[usize]) -> CandleResult<Tensor> {
        let mut first = 0;
        let mut outputs = Vec::new();
        for run in heads.chunk_by(|a, b| a == b) {
            let active = part(active, first, run.len())?;
            let mut hidden = self.layer(&self.hidden, run[0])?.forward(&active)?.relu()?;
            if let Some(middle) = &self.middle {
                let all = self.layer(middle, run[0])?;
                for number in 0..all.weight().dim(0)? / HIDDEN {
                    hidden = outputs_of(&all, number, HIDDEN)?.forward(&hidden)?.relu()?;
                }
            }
            outputs.push(self.layer(&self.projection, run[0])?.forward(&hidden)?);
            first += run.len();
        }
        Ok(normalize(&Tensor::cat(&outputs, 0)?)?.1)
    }

    /// One head's part of a layer, or of the middle layers.
    fn layer(&self, all: &Linear, head: usize) -> CandleResult<Linear> {
        outputs_of(all, head, all.weight().dim(0)? / self.heads)
    }
}

/// The layer of the `number`th share of so many outputs.
fn outputs_of(all: &Linear, number: usize, outputs: usize) -> CandleResult<Linear> {
    let part = |tensor: &Tensor| part(tensor, number * outputs, outputs);
    Ok(Linear::new(part(all.weight())?, all.bias().map(part).transpose()?))
}

/// Some of the rows; the tensor itself where that is all of them, which saves the gradient a copy.
fn part(tensor: &Tensor, first: usize, count: usize) -> CandleResult<Tensor> {
    if tensor.dim(0)? == count { Ok(tensor.clone()) } else { tensor.narrow(0, first, count) }
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
        let heads = vec![0, 0, 1, 1, 1, 2, 2];
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
