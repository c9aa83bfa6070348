//! The sparse encoder, the default on CPUs: sums of feature rows from the views of both sides, a
//! small MLP, and scaling to unit length. [`features`] are its inputs. Here are its sizes and
//! parameters, and the network for training, from features to the space.

pub mod features;
mod head_layers;

use anyhow::{Result, ensure};
use candle_core::{Result as CandleResult, Tensor};
use features::{FeatureBatch, FeatureSet};
use head_layers::HeadLayers;
use serde::{Deserialize, Serialize};

use crate::embedding_bag::{DeviceSums, GradientSink, activations};
use crate::parameters::{Init, ParameterSpec, Parameters, linear};

pub use head_layers::HIDDEN;

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
    layers: HeadLayers,
}

impl SparseNetwork {
    /// Builds the network over `parameters`; it sees later changes of their variables.
    pub fn new(config: &SparseConfig, parameters: &Parameters) -> Result<Self> {
        Ok(Self {
            table: parameters.get("features.weight")?,
            bias: parameters.get("features.bias")?,
            layers: HeadLayers {
                hidden: parameters.linear("hidden")?,
                middle: match config.middle_layers {
                    0 => None,
                    _ => Some(parameters.linear("middle")?),
                },
                projection: parameters.linear("projection")?,
                heads: config.heads,
            },
        })
    }

    /// Unit embeddings (batch x D) on the CPU; `sink` receives the table's gradient.
    pub fn forward(
        &self,
        features: &FeatureBatch,
        sink: Option<&GradientSink>,
    ) -> CandleResult<Tensor> {
        let active = by_position(&activations(&self.table, &self.bias, features.bags(), sink)?)?;
        self.layers.fused(&active, self.heads_of(features))
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
        self.layers.composed(&by_position(activations)?, &self.heads_of(features))
    }

    fn heads_of(&self, features: &FeatureBatch) -> Vec<usize> {
        features.iter().map(|features| head_of(features.pieces, self.layers.heads)).collect()
    }
}

/// The rows of both sides of each position (2n x H) side by side: n x 2H.
fn by_position(sides: &Tensor) -> CandleResult<Tensor> {
    let (count, width) = sides.dims2()?;
    sides.reshape((count / 2, 2 * width))
}
