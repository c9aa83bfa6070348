//! Mean embeddings in NumPy's format.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use azimuth_network::replace_file::replace_file;
use npyz::{DType, NpyFile, WriterBuilder};

/// Upper bound on the dimension of a space.
const MOST_DIMENSIONS: u64 = 1 << 16;

/// Bytes of the largest file: f64 and a header.
const LARGEST_FILE: u64 = MOST_DIMENSIONS * 8 + 4096;

/// Reads a vector of `dim` numbers, f32 or f64.
pub fn read(path: &Path, dim: usize) -> Result<Vec<f32>> {
    read_vector(path, dim).with_context(|| format!("mean '{}'", path.display()))
}

fn read_vector(path: &Path, dim: usize) -> Result<Vec<f32>> {
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

/// Writes a vector as f32.
pub fn write(path: &Path, values: &[f32]) -> Result<()> {
    let mut bytes = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(&[values.len() as u64]);
    let mut writer = options.writer(&mut bytes).begin_nd()?;
    writer.extend(values)?;
    writer.finish()?;
    replace_file(path, &bytes)
}
