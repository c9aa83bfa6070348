//! Import and export of checkpoints of the paper's authors (SOLIS, in PyTorch).

mod pth;

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::Architecture;
use azimuth_network::axis::{Axis, Direction};
use azimuth_network::checksum::hex;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use azimuth_network::replace_file::{check_output, replace_files};
use azimuth_network::transformer::TransformerConfig;
use azimuth_network::weights::Weights;
use azimuth_search::inference::Backend;
use candle_core::Tensor;
use clap::Args;
use npyz::{DType, NpyFile, WriterBuilder};
use serde_json::json;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::options::{DataOptions, SLOW_SAMPLE};
use crate::space::calibrate;

pub use pth::Pth;

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
    let checkpoint = std::fs::read(&options.checkpoint).with_context(name)?;
    let provenance = json!({
        "trainer": concat!("azimuth-train ", env!("CARGO_PKG_VERSION")),
        "imported": {"sha256": hex(&Sha256::digest(&checkpoint))},
    });
    let mut weights = Weights::without_space(architecture, parameters)?;
    weights.axis = Axis::new(white, black, None, Direction::Mates)?;
    weights.metadata.training = provenance;
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
    let dims = |name: &str| -> Result<&[usize]> {
        let missing = || format!("tensor '{name}' is missing: not a SOLIS checkpoint");
        let dims = pth.tensors.get(name).map(Tensor::dims).with_context(missing)?;
        ensure!(!dims.is_empty(), "tensor '{name}' is a number");
        Ok(dims)
    };
    let cls = dims("cls_token")?;
    let hidden = cls[cls.len() - 1];
    let mlp = dims("transformer.layers.0.linear1.weight")?[0];
    let layers = (0..).take_while(|layer| {
        pth.tensors.contains_key(&format!("transformer.layers.{layer}.linear1.weight"))
    });
    let (layers, embedding_dim) = (layers.count(), dims("projection.weight")?[0]);
    Ok(TransformerConfig { layers, hidden, heads, mlp, embedding_dim })
}

/// Upper bound on the dimension of a space.
const MOST_DIMENSIONS: u64 = 1 << 16;

/// Bytes of the largest file: f64 and a header.
const LARGEST_FILE: u64 = MOST_DIMENSIONS * 8 + 4096;

/// Reads a mean: a vector of `dim` numbers, f32 or f64.
fn read_mean(path: &Path, dim: usize) -> Result<Vec<f32>> {
    let mut bytes = Vec::new();
    BufReader::new(File::open(path)?).take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    let fits = bytes.len() as u64 <= LARGEST_FILE;
    ensure!(fits, "larger than a vector of {MOST_DIMENSIONS} numbers");
    let file = NpyFile::new(bytes.as_slice())?;
    // PyTorch's mean with keepdim=True has shape (1, dim).
    let numbers = file.shape().iter().try_fold(1u64, |all, &size| all.checked_mul(size));
    ensure!(numbers == Some(dim as u64), "shape {:?}, expected ({dim},)", file.shape());
    let DType::Plain(kind) = file.dtype() else { bail!("not an array of numbers") };
    let values: Vec<f32> = match kind.to_string().trim_start_matches(['<', '>', '|']) {
        "f4" => file.into_vec::<f32>()?,
        "f8" => file.into_vec::<f64>()?.into_iter().map(|value| value as f32).collect(),
        other => bail!("numbers of type {other}, expected f4 or f8"),
    };
    ensure!(values.iter().all(|value| value.is_finite()), "a number in it is not finite");
    Ok(values)
}

/// Writes a transformer as `out` (`.pth`, a state dictionary that PyTorch loads), and its two means
/// as `.npy` files beside it.
pub fn export(weights: &Weights, out: &Path) -> Result<()> {
    let Architecture::Transformer(config) = &weights.metadata.architecture else {
        bail!("--format solis: a SOLIS checkpoint is a transformer, and these weights are not");
    };
    let is_pth = out.extension().is_some_and(|extension| extension == "pth");
    ensure!(is_pth, "--out '{}': the name must end in .pth", out.display());
    let specs = config.parameters();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut add = |name: &str, bytes: &[u8]| -> Result<()> {
        // PyTorch accepts any folder.
        zip.start_file(format!("archive/{name}"), stored)?;
        Ok(zip.write_all(bytes)?)
    };
    add("data.pkl", &state_dict(&specs)?)?;
    add("byteorder", b"little")?;
    for (index, spec) in specs.iter().enumerate() {
        let values = weights.parameters.values(&spec.name)?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        add(&format!("data/{index}"), &bytes)?;
    }
    add("version", b"3\n")?;
    let axis = &weights.axis;
    replace_files(&[
        (out.to_owned(), zip.finish()?.into_inner()),
        (out.with_extension("white_mean.npy"), mean_array(&axis.white_mean)?),
        (out.with_extension("black_mean.npy"), mean_array(&axis.black_mean)?),
    ])?;
    say(format_args!(
        "wrote '{}', its means beside it; {} heads, which its shapes do not tell",
        out.display(),
        config.heads
    ));
    Ok(())
}

fn mean_array(values: &[f32]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(&[values.len() as u64]);
    let mut writer = options.writer(&mut bytes).begin_nd()?;
    writer.extend(values)?;
    writer.finish()?;
    Ok(bytes)
}

/// The pickle (protocol 2) of an ordered dictionary of tensors. Each tensor has its own storage,
/// named by its index.
fn state_dict(specs: &[ParameterSpec]) -> Result<Vec<u8>> {
    let mut pickle = b"\x80\x02ccollections\nOrderedDict\n)R(".to_vec();
    for (index, spec) in specs.iter().enumerate() {
        text(&spec.name, &mut pickle)?;
        pickle.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((");
        text("storage", &mut pickle)?;
        pickle.extend(b"ctorch\nFloatStorage\n");
        text(&index.to_string(), &mut pickle)?;
        text("cpu", &mut pickle)?;
        number(spec.shape.iter().product(), &mut pickle)?;
        // The tuple identifies the storage; the tensor starts at offset 0.
        pickle.extend(b"tQK\0");
        tuple(&spec.shape, &mut pickle)?;
        tuple(&strides(&spec.shape), &mut pickle)?;
        // requires_grad, backward hooks.
        pickle.extend(b"\x89ccollections\nOrderedDict\n)RtR");
    }
    pickle.extend(b"u.");
    Ok(pickle)
}

fn strides(shape: &[usize]) -> Vec<usize> {
    (1..=shape.len()).map(|next| shape[next..].iter().product()).collect()
}

fn tuple(numbers: &[usize], pickle: &mut Vec<u8>) -> Result<()> {
    pickle.push(b'(');
    numbers.iter().try_for_each(|&value| number(value, pickle))?;
    pickle.push(b't');
    Ok(())
}

fn number(value: usize, pickle: &mut Vec<u8>) -> Result<()> {
    let value = i32::try_from(value).context("a size that a pickle does not hold")?;
    pickle.push(b'J');
    pickle.extend(value.to_le_bytes());
    Ok(())
}

fn text(text: &str, pickle: &mut Vec<u8>) -> Result<()> {
    pickle.push(b'X');
    pickle.extend(u32::try_from(text.len())?.to_le_bytes());
    pickle.extend(text.as_bytes());
    Ok(())
}
