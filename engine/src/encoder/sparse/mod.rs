//! The sparse encoder, the default on CPUs: summed embeddings of attack-aware features seen from
//! both sides, then a small MLP, then unit length. See `features` for its inputs.
//!
//! [`SparseNetwork`] is its definition and what training runs; [`integer`] is what plays.

pub mod bag;
pub mod features;
pub mod integer;
mod kernels;

use std::sync::Arc;

use anyhow::{Result, ensure};
use candle_core::{CpuStorage, CustomOp1, Layout, Module, Result as CandleResult, Shape, Tensor};
use candle_nn::Linear;
use multiversion::multiversion;
use serde::{Deserialize, Serialize};

use super::parameters::{Init, ParameterSpec, Parameters, linear};
use super::storage::{values, with_values};
use super::transformer::normalize;
use bag::{GradientSink, embedding_bag};
use features::{FEATURES, Features};

/// Width of the layer between the feature sums and the embedding.
pub const HIDDEN: usize = 32;

/// The feature sums are a whole number of these blocks wide, so that every SIMD path fits.
const BLOCK: usize = 128;

/// Sizes of a sparse encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SparseConfig {
    /// Width of one side's feature sum (H).
    pub accumulator: usize,
    /// Dimension of the embedding (D).
    pub embedding_dim: usize,
}

impl SparseConfig {
    /// Checks that the integer path can run these sizes.
    pub fn check(&self) -> Result<()> {
        let sizes = [self.accumulator, self.embedding_dim];
        ensure!(sizes.iter().all(|size| (1..=1 << 16).contains(size)), "a size is out of range");
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
                &[FEATURES, self.accumulator],
                Init::Normal(0.06),
            ),
            ParameterSpec::new("features.bias", &[self.accumulator], Init::Constant(0.3)),
        ];
        specs.extend(linear("hidden", 2 * self.accumulator, HIDDEN));
        specs.extend(linear("projection", HIDDEN, self.embedding_dim));
        specs
    }
}

/// The sparse encoder as a function of its parameters.
pub struct SparseNetwork {
    table: Tensor,
    bias: Tensor,
    hidden: Linear,
    projection: Linear,
}

impl SparseNetwork {
    /// Builds the network over `parameters`; a change of a variable among them is seen at once.
    pub fn new(parameters: &Parameters) -> Result<Self> {
        Ok(Self {
            table: parameters.get("features.weight")?,
            bias: parameters.get("features.bias")?,
            hidden: parameters.linear("hidden")?,
            projection: parameters.linear("projection")?,
        })
    }

    /// Unit embeddings (batch x D). `table` overrides the stored one where it is recomputed from
    /// others at every step; `sink` takes the table's gradient on the CPU.
    pub fn forward(
        &self,
        features: &Arc<Vec<Features>>,
        table: Option<&Tensor>,
        sink: Option<&GradientSink>,
    ) -> CandleResult<Tensor> {
        let sums = embedding_bag(table.unwrap_or(&self.table), &self.bias, features, sink)?;
        let active = squared_clipped_relu(&sums)?;
        let hidden = self.hidden.forward(&active)?.relu()?;
        normalize(&self.projection.forward(&hidden)?)
    }
}

/// `clamp(x, 0, 1)²`, in one pass on the CPU.
fn squared_clipped_relu(x: &Tensor) -> CandleResult<Tensor> {
    if x.device().is_cpu() {
        x.contiguous()?.apply_op1(SquaredClippedRelu)
    } else {
        x.clamp(0f32, 1f32)?.sqr()
    }
}

struct SquaredClippedRelu;

impl CustomOp1 for SquaredClippedRelu {
    fn name(&self) -> &'static str {
        "squared-clipped-relu"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let activated = activate(values(storage, layout)?);
        Ok((CpuStorage::F32(activated), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _res: &Tensor, gradient: &Tensor) -> CandleResult<Option<Tensor>> {
        let mut slopes = gradient.flatten_all()?.to_vec1::<f32>()?;
        with_values(x, |x| activation_gradient(x, &mut slopes))?;
        Ok(Some(Tensor::from_vec(slopes, x.shape(), x.device())?))
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn activate(x: &[f32]) -> Vec<f32> {
    x.iter().map(|x| x.clamp(0.0, 1.0).powi(2)).collect()
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn activation_gradient(x: &[f32], slopes: &mut [f32]) {
    for (slope, &x) in slopes.iter_mut().zip(x) {
        *slope *= if x > 0.0 && x < 1.0 { 2.0 * x } else { 0.0 };
    }
}
