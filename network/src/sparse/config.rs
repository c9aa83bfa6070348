//! Sizes of sparse encoders, and their parameters.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use super::features::FeatureSet;
use crate::parameters::{Init, ParameterSpec, linear};

/// Width of the layer between the feature sums and the embedding.
pub const HIDDEN: usize = 32;

/// Maximum number of layers after the hidden layer.
const MAX_MIDDLE_LAYERS: usize = 4;

/// Pieces on a full board.
pub const MAX_PIECES: usize = 32;

/// Index, among `heads`, of the head for a position with `pieces` pieces: each head covers an equal
/// share of the 32 piece counts.
pub(super) fn head(pieces: usize, heads: usize) -> usize {
    pieces.clamp(1, MAX_PIECES).saturating_sub(1) * heads / MAX_PIECES
}

/// The width of the feature sums is a multiple of this, so that every SIMD kernel fits.
const BLOCK: usize = 128;

/// Sizes of a sparse encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SparseConfig {
    /// The feature set; older files, without this field, use attack states.
    #[serde(default)]
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
        head(pieces, self.heads)
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
            self.accumulator.is_multiple_of(BLOCK),
            "accumulator width {} is not a multiple of {BLOCK}",
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
