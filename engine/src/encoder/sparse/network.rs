//! The sparse encoder as a network: from features to the space, as training runs it.

use std::sync::Arc;

use anyhow::Result;
use candle_core::{Module, Result as CandleResult, Tensor};
use candle_nn::Linear;

use super::config::{SparseConfig, head};
use super::embedding_bag::{GradientSink, activated_bag};
use super::features::FeatureBatch;
use crate::encoder::normalize::normalize;
use crate::encoder::parameters::Parameters;

/// The sparse encoder as a function of its parameters.
pub struct SparseNetwork {
    table: Tensor,
    bias: Tensor,
    hidden: Linear,
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
        let mut first = 0;
        let mut outputs = Vec::new();
        for run in heads.chunk_by(|a, b| a == b) {
            let active = part(&active, first, run.len())?;
            let hidden = self.layer(&self.hidden, run[0])?.forward(&active)?.relu()?;
            outputs.push(self.layer(&self.projection, run[0])?.forward(&hidden)?);
            first += run.len();
        }
        Ok(normalize(&Tensor::cat(&outputs, 0)?)?.1)
    }

    /// One head's part of a layer.
    fn layer(&self, all: &Linear, head: usize) -> CandleResult<Linear> {
        let outputs = all.weight().dim(0)? / self.heads;
        let part = |tensor: &Tensor| part(tensor, head * outputs, outputs);
        Ok(Linear::new(part(all.weight())?, all.bias().map(part).transpose()?))
    }
}

/// Some of the rows; the tensor itself where that is all of them, which saves the gradient a copy.
fn part(tensor: &Tensor, first: usize, count: usize) -> CandleResult<Tensor> {
    if tensor.dim(0)? == count { Ok(tensor.clone()) } else { tensor.narrow(0, first, count) }
}
