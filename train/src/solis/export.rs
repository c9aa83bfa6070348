//! A transformer's weights as a checkpoint that PyTorch loads, with its means as NumPy files. Reads
//! such means, too.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use azimuth_cli::say;
use azimuth_network::Architecture;
use azimuth_network::parameters::ParameterSpec;
use azimuth_network::replace_file::replace_files;
use azimuth_network::weights::Weights;
use npyz::{DType, NpyFile, WriterBuilder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Folder within the archive; PyTorch accepts any.
const FOLDER: &str = "archive";

/// The version in `torch.save`'s zip files.
const VERSION: &str = "3\n";

/// Writes `out` (`.pth`, a state dictionary), and the two means as `.npy` files beside it.
pub fn export(weights: &Weights, out: &Path) -> Result<()> {
    let Architecture::Transformer(config) = &weights.metadata.architecture else {
        bail!("--format solis: a SOLIS checkpoint is a transformer, and these weights are not");
    };
    ensure!(
        out.extension().is_some_and(|extension| extension == "pth"),
        "--out '{}': the name must end in .pth",
        out.display()
    );
    let specs = config.parameters();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut add = |name: &str, bytes: &[u8]| -> Result<()> {
        zip.start_file(format!("{FOLDER}/{name}"), stored)?;
        Ok(zip.write_all(bytes)?)
    };
    add("data.pkl", &state_dict(&specs)?)?;
    add("byteorder", b"little")?;
    for (index, spec) in specs.iter().enumerate() {
        let values = weights.parameters.values(&spec.name)?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        add(&format!("data/{index}"), &bytes)?;
    }
    add("version", VERSION.as_bytes())?;
    let axis = &weights.axis;
    replace_files(&[
        (out.to_owned(), zip.finish()?.into_inner()),
        (beside(out, "white_mean"), mean_array(&axis.white_mean)?),
        (beside(out, "black_mean"), mean_array(&axis.black_mean)?),
    ])?;
    say(format_args!(
        "wrote '{}', its means beside it; {} heads, which its shapes do not tell",
        out.display(),
        config.heads
    ));
    Ok(())
}

/// `x.pth` to `x.white_mean.npy`.
fn beside(out: &Path, name: &str) -> PathBuf {
    out.with_extension(format!("{name}.npy"))
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
pub fn state_dict(specs: &[ParameterSpec]) -> Result<Vec<u8>> {
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
    pickle.push(b'J');
    pickle
        .extend(i32::try_from(value).context("a size that a pickle does not hold")?.to_le_bytes());
    Ok(())
}

fn text(text: &str, pickle: &mut Vec<u8>) -> Result<()> {
    pickle.push(b'X');
    pickle.extend(u32::try_from(text.len())?.to_le_bytes());
    pickle.extend(text.as_bytes());
    Ok(())
}

/// Upper bound on the dimension of a space.
const MOST_DIMENSIONS: u64 = 1 << 16;

/// Bytes of the largest file: f64 and a header.
const LARGEST_FILE: u64 = MOST_DIMENSIONS * 8 + 4096;

/// Reads a mean: a vector of `dim` numbers, f32 or f64.
pub fn read_mean(path: &Path, dim: usize) -> Result<Vec<f32>> {
    let mut bytes = Vec::new();
    BufReader::new(File::open(path)?).take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    ensure!(
        bytes.len() as u64 <= LARGEST_FILE,
        "larger than a vector of {MOST_DIMENSIONS} numbers"
    );
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
