//! Conversion of a published checkpoint to a weights file.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::Architecture;
use azimuth_network::axis::{Axis, Direction};
use azimuth_network::calibration::Calibration;
use azimuth_network::checksum::hex;
use azimuth_network::parameters::Parameters;
use azimuth_network::replace_file::check_output;
use azimuth_network::transformer::TransformerConfig;
use azimuth_network::weights::{Metadata, Weights};
use azimuth_search::inference::Backend;
use candle_core::Tensor;
use clap::Args;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::export::read_mean;
use super::pth::Pth;
use crate::options::{DataOptions, SLOW_SAMPLE};
use crate::space::calibrate;

/// The number in the paper; it cannot be derived from the tensors' shapes.
const HEADS: usize = 16;

/// Convert a SOLIS checkpoint to a weights file.
#[derive(Args)]
pub struct ImportOptions {
    /// Checkpoint: `.pth`, or Lightning's `.ckpt`.
    #[arg(long)]
    checkpoint: PathBuf,
    /// Mean embedding of the positions in which White mates (.npy).
    #[arg(long)]
    white_mean: PathBuf,
    /// Mean embedding of the positions in which Black mates (.npy).
    #[arg(long)]
    black_mean: PathBuf,
    /// Weights file to write.
    #[arg(long)]
    out: PathBuf,
    /// Number of attention heads [default: from the checkpoint, otherwise 16].
    #[arg(long)]
    heads: Option<usize>,
    /// Labelled positions to fit the calibration (cosine to win probability) and to measure on.
    /// Without them the win probability is (1 + cosine) / 2: the moves are the same, but centipawns
    /// mean little.
    #[arg(long, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Device to compute on.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
}

/// Reads the checkpoint and writes the weights.
pub fn import(options: &ImportOptions) -> Result<()> {
    let ImportOptions { checkpoint, white_mean, black_mean, data, .. } = options;
    let inputs = [checkpoint, white_mean, black_mean].into_iter().chain(data);
    check_output(&options.out, &inputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
    let name = || format!("checkpoint '{}'", options.checkpoint.display());
    let pth = Pth::read(&options.checkpoint)?;
    let heads = options.heads.or(pth.heads).unwrap_or(HEADS);
    let config = config_of(&pth, heads).with_context(name)?;
    config.check().with_context(name)?;
    let architecture = Architecture::Transformer(config);
    let specs = architecture.parameters();
    // Other tensors, such as training buffers, are not used in play.
    let known = |name: &String| specs.iter().any(|spec| spec.name == *name);
    let parameters = Parameters::new(pth.tensors.into_iter().filter(|(name, _)| known(name)));
    parameters.check(&specs).with_context(name)?;

    let dim = architecture.embedding_dim();
    let mean =
        |path: &PathBuf| read_mean(path, dim).with_context(|| format!("mean '{}'", path.display()));
    let (white, black) = (mean(&options.white_mean)?, mean(&options.black_mean)?);
    let axis = Axis::new(white, black, None, Direction::Mates)?;
    let calibration = Calibration::new(vec![-1.0, 1.0], vec![0.0, 1.0])?;
    let checkpoint = std::fs::read(&options.checkpoint).with_context(name)?;
    let provenance = json!({
        "trainer": concat!("azimuth-train ", env!("CARGO_PKG_VERSION")),
        "imported": {"sha256": hex(&Sha256::digest(&checkpoint))},
    });
    let metadata = Metadata::new(architecture, Direction::Mates, provenance, Value::Null);
    let mut weights = Weights { metadata, parameters, axis, calibration };
    if !options.data.is_empty() {
        let device = options.device.device().context("--device")?;
        let data = DataOptions { data: options.data.clone(), sample: Some(SLOW_SAMPLE) };
        let data = data.read(&weights.metadata.architecture, &device)?;
        print_line(serde_json::to_string(&calibrate(&mut weights, &data, &device)?)?)?;
    }
    weights.write(&options.out)?;
    say(format_args!("wrote '{}'", options.out.display()));
    Ok(())
}

/// The sizes, derived from the tensors' shapes.
fn config_of(pth: &Pth, heads: usize) -> Result<TransformerConfig> {
    let tensor = |name: &str| -> Result<&Tensor> {
        pth.tensors
            .get(name)
            .with_context(|| format!("tensor '{name}' is missing: not a SOLIS checkpoint"))
    };
    let rows = |name: &str| -> Result<usize> {
        tensor(name)?
            .dims()
            .first()
            .copied()
            .with_context(|| format!("tensor '{name}' is a number"))
    };
    let cls = tensor("cls_token")?.dims();
    let hidden = cls.last().copied().context("tensor 'cls_token' is a number")?;
    let layers = (0..).take_while(|layer| {
        pth.tensors.contains_key(&format!("transformer.layers.{layer}.linear1.weight"))
    });
    let layers = layers.count();
    ensure!(
        layers > 0,
        "tensor 'transformer.layers.0.linear1.weight' is missing: not a SOLIS checkpoint"
    );
    Ok(TransformerConfig {
        layers,
        hidden,
        heads,
        mlp: rows("transformer.layers.0.linear1.weight")?,
        embedding_dim: rows("projection.weight")?,
    })
}
