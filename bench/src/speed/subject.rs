//! The measured encoder: from a weights file, or one of the paper's sizes with random parameters,
//! which are as fast as trained ones.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth_chess::tokens;
use azimuth_network::Architecture;
use azimuth_network::axis::{Axis, Direction};
use azimuth_network::calibration::Calibration;
use azimuth_network::parameters::{Init, ParameterSpec, Parameters};
use azimuth_network::sparse::features::FeatureBatch;
use azimuth_network::sparse::{HIDDEN, SparseConfig};
use azimuth_network::transformer::TransformerConfig;
use azimuth_network::weights::{Metadata, Weights};
use azimuth_search::DefaultWeights;
use candle_core::{Device, Tensor};
use cozy_chess::Board;

pub struct Subject {
    pub name: String,
    pub weights: Arc<Weights>,
}

impl Subject {
    /// `beam` for its default weights, `mini`, `small`, `base`, or the path of a weights file.
    pub fn named(name: &str) -> Result<Self> {
        let transformer = |config| random(Architecture::Transformer(config));
        let weights = match name {
            "beam" => DefaultWeights::Beam.weights(),
            "mini" => transformer(TransformerConfig::mini()),
            "small" => transformer(TransformerConfig::small()),
            "base" => transformer(TransformerConfig::base()),
            path => Weights::read(Path::new(path))
                .context("--encoder: not beam, mini, small or base, so the path of a file"),
        }?;
        let name = weights.metadata.architecture.to_string();
        Ok(Self { name, weights: Arc::new(weights) })
    }

    /// Number of multiplications and additions per position, averaged over `boards`.
    pub fn operations(&self, boards: &[Board]) -> f64 {
        match &self.weights.metadata.architecture {
            Architecture::Sparse(config) => {
                let batch = FeatureBatch::of(config.features, boards);
                sparse_operations(config, batch.rows().len() as f64 / boards.len() as f64)
            }
            Architecture::Transformer(config) => transformer_operations(config),
        }
    }
}

/// Counts the sum of both sides' active rows and the dense layers.
fn sparse_operations(config: &SparseConfig, rows: f64) -> f64 {
    let sums = rows * config.accumulator as f64;
    let inputs = 2 * config.accumulator + config.middle_layers * HIDDEN;
    let dense = 2 * (inputs * HIDDEN + HIDDEN * config.embedding_dim);
    sums + dense as f64
}

/// Counts the matrix products of all layers over the tokens and CLS. After its attention the last
/// layer processes CLS alone.
fn transformer_operations(config: &TransformerConfig) -> f64 {
    let (length, hidden) = (tokens::LEN + 1, config.hidden);
    let attention = 3 * hidden * hidden + 2 * length * hidden;
    let after = hidden * hidden + 2 * hidden * config.mlp;
    let rows_after = (config.layers - 1) * length + 1;
    let layers = config.layers * length * attention + rows_after * after;
    (2 * (layers + hidden * config.embedding_dim)) as f64
}

fn random(architecture: Architecture) -> Result<Weights> {
    let tensor = |spec: &ParameterSpec| -> Result<Tensor> {
        let (shape, device) = (spec.shape.as_slice(), &Device::Cpu);
        Ok(match spec.init {
            Init::Constant(value) => Tensor::full(value, shape, device)?,
            Init::Normal(deviation) => Tensor::randn(0.0, deviation, shape, device)?,
            Init::Uniform(bound) => Tensor::rand(-bound, bound, shape, device)?,
        })
    };
    let specs = architecture.parameters();
    let named = specs.iter().map(|spec| Ok((spec.name.clone(), tensor(spec)?)));
    let parameters = Parameters::new(named.collect::<Result<Vec<_>>>()?);
    let dim = architecture.embedding_dim();
    let nothing = serde_json::Value::Null;
    Ok(Weights {
        metadata: Metadata::new(architecture, Direction::Mates, nothing.clone(), nothing),
        parameters,
        axis: Axis::new(vec![1.0; dim], vec![0.0; dim], None, Direction::Mates)?,
        calibration: Calibration::new(vec![-1.0, 1.0], vec![0.0, 1.0])?,
        policy: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's table: about 10 and 39 million parameters; each is used once per token.
    #[test]
    fn operations_follow_the_parameters() {
        for config in [TransformerConfig::small(), TransformerConfig::base()] {
            let dense: usize = config
                .parameters()
                .iter()
                .filter(|spec| spec.name.starts_with("transformer") && spec.shape.len() == 2)
                .map(|spec| spec.shape.iter().product::<usize>())
                .sum();
            let length = tokens::LEN + 1;
            let attention = 4 * config.layers * length * length * config.hidden;
            let projection = 2 * config.hidden * config.embedding_dim;
            let spared = config.hidden * (config.hidden + 2 * config.mlp) * (length - 1);
            let expected = 2 * (dense * length - spared) + attention + projection;
            assert_eq!(transformer_operations(&config), expected as f64);
        }
        let config = SparseConfig {
            features: "piece-square".parse().expect("a set"),
            accumulator: 256,
            embedding_dim: 64,
            heads: 1,
            middle_layers: 1,
        };
        assert_eq!(
            sparse_operations(&config, 64.0),
            (2 * 32 * 256 + 2 * (512 * 32 + 32 * 32 + 32 * 64)) as f64
        );
    }

    #[test]
    fn names_and_paths_are_told_apart() {
        assert_eq!(Subject::named("mini").expect("random").name, "mini");
        let error = format!("{:#}", Subject::named("/no/such/file").err().expect("missing"));
        assert!(error.contains("--encoder") && error.contains("/no/such/file"), "{error}");
    }
}
