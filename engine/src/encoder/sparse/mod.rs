//! The sparse encoder, the default on CPUs: summed embeddings of attack-aware features seen from
//! both sides, then a small MLP, then unit length. See `features` for its inputs.
//!
//! [`SparseNetwork`] is its definition and what training runs; [`integer`] is what plays.

mod accumulator;
pub mod bag;
pub mod features;
pub mod integer;
mod kernels;

use std::sync::Arc;

use anyhow::{Result, ensure};
use candle_core::{Module, Result as CandleResult, Tensor};
use candle_nn::Linear;
use serde::{Deserialize, Serialize};

use super::parameters::{Init, ParameterSpec, Parameters, linear};
use super::transformer::normalize;
use bag::{GradientSink, activated_bag};
use features::{FeatureBatch, FeatureSet};

/// Width of the layer between the feature sums and the embedding.
pub const HIDDEN: usize = 32;

/// Pieces on a full board.
const MOST_PIECES: usize = 32;

fn head(pieces: usize, heads: usize) -> usize {
    pieces.clamp(1, MOST_PIECES).saturating_sub(1) * heads / MOST_PIECES
}

/// The feature sums are a whole number of these blocks wide, so that every SIMD path fits.
const BLOCK: usize = 128;

/// Sizes of a sparse encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SparseConfig {
    /// What it reads; files written before there was a choice have attack states.
    #[serde(default)]
    pub features: FeatureSet,
    /// Width of one side's feature sum (H).
    pub accumulator: usize,
    /// Dimension of the embedding (D).
    pub embedding_dim: usize,
    /// Copies of the layers after the sums, each for positions with so many pieces.
    #[serde(default = "one_head")]
    pub heads: usize,
}

fn one_head() -> usize {
    1
}

impl SparseConfig {
    /// The head for positions with so many pieces: equal shares of the 32.
    pub fn head(&self, pieces: usize) -> usize {
        head(pieces, self.heads)
    }

    /// Checks that the integer path can run these sizes.
    pub fn check(&self) -> Result<()> {
        let sizes = [self.accumulator, self.embedding_dim];
        ensure!(sizes.iter().all(|size| (1..=1 << 16).contains(size)), "a size is out of range");
        ensure!((1..=MOST_PIECES).contains(&self.heads), "heads {}: not 1 to 32", self.heads);
        ensure!(
            self.accumulator.is_multiple_of(BLOCK),
            "accumulator width {} is not a multiple of {BLOCK}",
            self.accumulator
        );
        Ok(())
    }

    /// Every parameter of the weights file; rows of the table are small enough for a sum of thirty
    /// to stay inside the activation's range.
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
        specs.extend(linear("projection", HIDDEN, self.heads * self.embedding_dim));
        specs
    }
}

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
