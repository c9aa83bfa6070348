//! Starting a run from the parameters of a weights file instead of random ones.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_network::Architecture;
use azimuth_network::calibration::Calibration;
use azimuth_network::checksum::hex;
use azimuth_network::parameters::Parameters;
use azimuth_network::sparse::SparseConfig;
use azimuth_network::sparse::features::{FeatureSet, KingView};
use azimuth_network::weights::Weights;
use candle_core::{Device, Tensor};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The parameter that holds the feature table (rows x H).
pub const TABLE: &str = "features.weight";

/// Slope of the read-out if the calibration does not determine one. At this slope, cosines of ± 1
/// are nearly certain wins and losses.
pub const READOUT_LENGTH: f32 = 5.0;

/// The weights file that a run starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Its file name without the folder.
    name: String,
    sha256: String,
    /// Its path, which is not part of the run's description.
    #[serde(skip)]
    path: PathBuf,
}

/// The initial state of a run.
pub struct Beginning {
    /// The parameters, in the shapes of the run's architecture.
    pub parameters: Parameters,
    /// Direction (D) of the auxiliary regression.
    pub readout: Vec<f32>,
    pub readout_bias: f32,
}

impl Origin {
    /// The weights file at `path`. Fails if an encoder of `architecture` cannot start from it.
    pub fn new(path: &Path, architecture: &Architecture) -> Result<Self> {
        let mut origin = Self {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            sha256: String::new(),
            path: path.to_owned(),
        };
        // Reading a pipe or a device, which this refuses, could block for ever.
        origin.beginning(architecture)?;
        origin.sha256 = hex(&Sha256::digest(fs::read(path).with_context(|| name(path))?));
        Ok(origin)
    }

    /// Reads the initial state of a run of `architecture`: the file's parameters, and a read-out
    /// that approximates the file's axis and calibration.
    pub fn beginning(&self, architecture: &Architecture) -> Result<Beginning> {
        let weights = Weights::read(&self.path)?;
        let parameters = grown(&weights, architecture).with_context(|| name(&self.path))?;
        let (slope, readout_bias) = logistic(&weights.calibration);
        let readout = weights.axis.unit().iter().map(|value| slope * value).collect();
        Ok(Beginning { parameters, readout, readout_bias })
    }
}

fn name(path: &Path) -> String {
    format!("--from '{}'", path.display())
}

/// Converts the parameters of `weights` to an encoder of `architecture` with the same embeddings.
/// The sizes must be equal, except that king buckets may replace a mirrored king, that attackers may
/// be added, and that the feature sums may be wider.
fn grown(weights: &Weights, architecture: &Architecture) -> Result<Parameters> {
    let own = &weights.metadata.architecture;
    if own == architecture {
        return Ok(weights.parameters.clone());
    }
    let (Architecture::Sparse(own), Architecture::Sparse(to)) = (own, architecture) else {
        anyhow::bail!("its encoder is {own}, not {architecture}");
    };
    let king = own.features.king;
    let gets_buckets = to.features.king.refines(king);
    let mut reachable = own.clone();
    if gets_buckets {
        reachable.features.king = to.features.king;
    }
    let gets_attackers = to.features.attackers && !own.features.attackers;
    reachable.features.attackers |= gets_attackers;
    reachable.accumulator = to.accumulator.max(own.accumulator);
    ensure!(
        reachable == *to,
        "its encoder has other sizes: give {}, or a larger --accumulator, or attackers{}",
        options(own),
        if KingView::TenBuckets.refines(king) { ", or more king buckets" } else { "" }
    );
    let mut table = weights.parameters.get(TABLE)?;
    if gets_attackers {
        // The rows of attackers start at zero.
        let rows = FeatureSet { attackers: true, ..own.features }.rows() - own.features.rows();
        table = table.pad_with_zeros(0, 0, rows)?;
    }
    if gets_buckets {
        // The rows of every king bucket start as copies of those of the bucket that contains it.
        let rows = (0..to.features.rows()).map(|row| to.features.row_with(king, row) as u32);
        table = table.index_select(&Tensor::from_iter(rows, &Device::Cpu)?, 0)?;
    }
    let others = weights.parameters.iter().filter(|(name, _)| *name != TABLE);
    let others = others.map(|(name, tensor)| (name.clone(), tensor.clone()));
    let parameters = Parameters::new(others.chain([(TABLE.to_owned(), table)]));
    match to.accumulator > own.accumulator {
        true => widened(&parameters, own.accumulator, to.accumulator),
        false => Ok(parameters),
    }
}

/// Widens the feature sums from `own` units to `width` (Net2WiderNet, Chen et al. 2015,
/// [arXiv 1511.05641](https://arxiv.org/abs/1511.05641)). Every new unit is a copy of an old one.
/// For each hidden neuron, the weight of the old unit is divided among the copies in random
/// proportions: the sum is unchanged, and the copies get different gradients.
fn widened(parameters: &Parameters, own: usize, width: usize) -> Result<Parameters> {
    let unit_of = |unit: usize| unit % own;
    let units = Tensor::from_iter((0..width).map(|unit| unit_of(unit) as u32), &Device::Cpu)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut shared = |weights: &[f32], wide: &mut Vec<f32>| {
        let parts: Vec<f32> = (0..width).map(|_| rng.random_range(0.1..0.9)).collect();
        let mut sums = vec![0.0; own];
        parts.iter().enumerate().for_each(|(unit, part)| sums[unit_of(unit)] += part);
        wide.extend(parts.iter().enumerate().map(|(unit, part)| {
            let unit = unit_of(unit);
            weights[unit] * part / sums[unit]
        }));
    };
    let tensors = parameters.iter().map(|(name, tensor)| {
        let tensor = match name.as_str() {
            TABLE => tensor.index_select(&units, 1)?,
            "features.bias" => tensor.index_select(&units, 0)?,
            "hidden.weight" => {
                let values = parameters.values(name)?;
                let mut wide = Vec::with_capacity(values.len() / own * width);
                values.chunks_exact(own).for_each(|weights| shared(weights, &mut wide));
                Tensor::from_vec(wide, (tensor.dim(0)?, 2 * width), &Device::Cpu)?
            }
            _ => tensor.clone(),
        };
        Ok((name.clone(), tensor))
    });
    Ok(Parameters::new(tensors.collect::<Result<Vec<_>>>()?))
}

fn options(config: &SparseConfig) -> String {
    let SparseConfig { features, accumulator, embedding_dim, heads, middle_layers } = config;
    format!(
        "--features {features} --accumulator {accumulator} --embedding-dim {embedding_dim} \
         --heads {heads} --middle-layers {middle_layers}"
    )
}

/// Slope and intercept of the logistic function that best fits a calibration: a linear regression
/// on the logits of its knots, weighted by (p (1 - p))^2.
fn logistic(calibration: &Calibration) -> (f32, f32) {
    let knots = calibration.cosines().iter().zip(calibration.win_probabilities());
    let (mut weight, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (&cosine, &p) in knots.filter(|&(_, &p)| p > 0.0 && p < 1.0) {
        let (cosine, p) = (f64::from(cosine), f64::from(p));
        let (logit, certainty) = ((p / (1.0 - p)).ln(), (p * (1.0 - p)).powi(2));
        weight += certainty;
        x += certainty * cosine;
        y += certainty * logit;
        xx += certainty * cosine * cosine;
        xy += certainty * cosine * logit;
    }
    let spread = weight * xx - x * x;
    if spread <= f64::EPSILON {
        return (READOUT_LENGTH, 0.0);
    }
    let slope = (weight * xy - x * y) / spread;
    (slope as f32, ((y - slope * x) / weight) as f32)
}

#[cfg(test)]
mod tests {
    use azimuth_network::sparse::SparseNetwork;
    use azimuth_network::sparse::features::FeatureBatch;
    use azimuth_network::transformer::TransformerConfig;
    use cozy_chess::Board;

    use super::*;

    const POSITIONS: [&str; 5] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 b - - 0 9",
        "8/2k5/8/3q4/8/8/4R3/4K3 w - - 0 1",
        "8/5pk1/6p1/3P4/1K6/8/5PPP/8 b - - 0 40",
        "2kr3r/ppp2ppp/2n5/4P3/3q4/8/PPPK1PPP/R2Q1B1R w - - 1 13",
    ];

    fn weights(config: &SparseConfig, parameters: Parameters) -> Result<Weights> {
        Weights::without_space(Architecture::Sparse(config.clone()), parameters)
    }

    fn sizes(features: &str) -> Result<SparseConfig> {
        let features: FeatureSet = features.parse()?;
        Ok(SparseConfig {
            features,
            accumulator: 128,
            embedding_dim: 8,
            heads: 4,
            middle_layers: 1,
        })
    }

    /// Parameters in which all rows differ.
    fn waves(config: &SparseConfig) -> Result<Weights> {
        let tensors = config.parameters().into_iter().map(|spec| {
            let count: usize = spec.shape.iter().product();
            let wave = (0..count).map(|place| (place as f32 * 0.7).sin() * 0.1);
            Ok((spec.name, Tensor::from_iter(wave, &Device::Cpu)?.reshape(spec.shape)?))
        });
        weights(config, Parameters::new(tensors.collect::<Result<Vec<_>>>()?))
    }

    #[test]
    fn what_may_change_begins_with_the_same_embeddings() -> Result<()> {
        for (states, own, to, accumulator) in [
            ("piece-square", "king-mirror", "king-buckets-4", 128),
            ("exchange-states-16", "king-mirror", "king-buckets-4+attackers", 384),
            ("piece-square", "king-mirror", "king-buckets-10+attackers", 256),
            ("piece-square", "king-buckets-4", "king-buckets-10", 256),
        ] {
            let own = sizes(&format!("{states}+{own}+threats"))?;
            let to = sizes(&format!("{states}+{to}+threats"))?;
            let to = SparseConfig { accumulator, ..to };
            let given = waves(&own)?;
            let grown = grown(&given, &Architecture::Sparse(to.clone()))?;
            grown.check(&to.parameters())?;
            let (before, after) = (embeddings(&own, &given.parameters)?, embeddings(&to, &grown)?);
            assert!(before.iter().any(|value| value.abs() > 0.1));
            for (before, after) in before.iter().zip(&after) {
                assert!((before - after).abs() < 1e-5, "{states}: {before} {after}");
            }
            // Copies have the same rows but not the same weights behind them.
            let hidden = grown.values("hidden.weight")?;
            assert_ne!(hidden[1], hidden[129]);
        }
        Ok(())
    }

    fn embeddings(config: &SparseConfig, parameters: &Parameters) -> Result<Vec<f32>> {
        let boards = POSITIONS.map(|fen| fen.parse::<Board>().expect("a position"));
        let features = FeatureBatch::of(config.features, &boards);
        let embeddings = SparseNetwork::new(config, parameters)?.forward(&features, None)?;
        Ok(embeddings.flatten_all()?.to_vec1()?)
    }

    #[test]
    fn other_sizes_are_refused_with_those_that_would_do() -> Result<()> {
        let config = sizes("piece-square+king-mirror")?;
        let given = waves(&config)?;
        let larger = Architecture::Sparse(SparseConfig { embedding_dim: 16, ..config.clone() });
        let error = grown(&given, &larger).err().context("larger")?.to_string();
        assert!(error.contains("a larger --accumulator"), "{error}");
        assert!(error.contains("king buckets"), "{error}");
        let narrower = waves(&SparseConfig { accumulator: 256, ..config.clone() })?;
        let error = grown(&narrower, &Architecture::Sparse(config)).err().context("narrower")?;
        assert!(error.to_string().contains("--accumulator 256"), "{error}");
        let transformer = Architecture::Transformer(TransformerConfig::mini());
        assert!(grown(&given, &transformer).is_err());
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_refused_before_it_is_read() -> Result<()> {
        let architecture = Architecture::Sparse(sizes("piece-square+king-mirror")?);
        let error = Origin::new("/dev/zero".as_ref(), &architecture).expect_err("a device");
        assert_eq!(error.to_string(), "weights file '/dev/zero': not a regular file");
        Ok(())
    }

    #[test]
    fn the_read_out_says_what_the_calibration_says() -> Result<()> {
        let p = |cosine: f32| 1.0 / (1.0 + (-6.0 * cosine - 0.3).exp());
        let cosines: Vec<f32> = (-5..=5).map(|step| step as f32 / 5.0).collect();
        let calibration = Calibration::new(cosines.clone(), cosines.into_iter().map(p).collect())?;
        let (slope, bias) = logistic(&calibration);
        assert!((slope - 6.0).abs() < 1e-2 && (bias - 0.3).abs() < 1e-2, "{slope} {bias}");
        let certain = Calibration::new(vec![-1.0, 1.0], vec![0.0, 1.0])?;
        assert_eq!(logistic(&certain), (READOUT_LENGTH, 0.0));
        Ok(())
    }
}
