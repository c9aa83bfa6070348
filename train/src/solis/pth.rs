//! Reads the tensors of a PyTorch checkpoint: `.pth`, or Lightning's `.ckpt`, where they are under
//! `state_dict`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::pickle::{Object, PthTensors, Stack};
use candle_core::{DType, Tensor};
use zip::ZipArchive;

use super::pickle::check;
use crate::catch_panic::catch_panic;

/// Maximum size in bytes of a checkpoint's pickle, which has only names and shapes.
const LARGEST_PICKLE: u64 = 16 << 20;

/// Maximum number of values in a tensor of an encoder.
const LARGEST_TENSOR: usize = 1 << 28;

/// Maximum number of values in all tensors together: 2 GiB as f32. Zeros compress well, so a small
/// archive could contain far more.
const MOST_NUMBERS: usize = 1 << 29;

const STATE: &str = "state_dict";

/// Tensors by name, f32 on the CPU, and the settings stored in a checkpoint.
pub struct Pth {
    /// The tensors, without the prefixes of wrappers.
    pub tensors: HashMap<String, Tensor>,
    /// Number of attention heads, if Lightning stored the hyper-parameters.
    pub heads: Option<usize>,
}

impl Pth {
    /// Reads a checkpoint without executing anything in it.
    pub fn read(path: &Path) -> Result<Self> {
        let name = || format!("checkpoint '{}'", path.display());
        let pickle = read_pickle(path).with_context(name)?;
        check(&pickle).with_context(name)?;
        let root = read_object(&pickle).with_context(name)?;
        let key = entry(&root, STATE).map(|_| STATE);
        let heads =
            entry(&root, "hyper_parameters").and_then(|settings| entry(settings, "num_heads"));
        let heads = heads.and_then(|heads| usize::try_from(heads.clone()).ok());
        let tensors = catch_panic(|| read_tensors(path, key)).and_then(|read| read);
        Ok(Self { tensors: without_prefix(tensors.with_context(name)?), heads })
    }
}

fn read_pickle(path: &Path) -> Result<Vec<u8>> {
    let mut zip = ZipArchive::new(BufReader::new(File::open(path)?))
        .map_err(|error| anyhow!("not a checkpoint that torch.save wrote ({error})"))?;
    let is_pickle = |&index: &usize| {
        let name = zip.name_for_index(index).and_then(Result::ok);
        name.is_some_and(|name| name.ends_with("data.pkl"))
    };
    let pickles: Vec<usize> = (0..zip.len()).filter(is_pickle).collect();
    let [pickle] = pickles.as_slice() else {
        bail!("{} files 'data.pkl' in it, expected one", pickles.len());
    };
    let mut bytes = Vec::new();
    zip.by_index(*pickle)?.take(LARGEST_PICKLE + 1).read_to_end(&mut bytes)?;
    ensure!(
        bytes.len() as u64 <= LARGEST_PICKLE,
        "its pickle is larger than {LARGEST_PICKLE} bytes"
    );
    Ok(bytes)
}

fn read_object(pickle: &[u8]) -> Result<Object> {
    let mut stack = Stack::empty();
    stack.read_loop(&mut &pickle[..])?;
    Ok(stack.finalize()?)
}

/// The value under `key` in a dictionary.
fn entry<'a>(object: &'a Object, key: &str) -> Option<&'a Object> {
    let entries = match object {
        Object::Dict(entries) => entries,
        Object::Build { args, .. } => return entry(args, key),
        _ => return None,
    };
    let named =
        |(name, _): &&(Object, Object)| matches!(name, Object::Unicode(name) if name == key);
    entries.iter().find(named).map(|(_, value)| value)
}

fn read_tensors(path: &Path, key: Option<&str>) -> Result<HashMap<String, Tensor>> {
    let file = PthTensors::new(path, key)?;
    check_sizes(&file)?;
    let mut tensors = HashMap::new();
    for name in file.tensor_infos().keys() {
        if let Some(tensor) = file.get(name).with_context(|| format!("tensor '{name:.80}'"))? {
            tensors.insert(name.clone(), tensor.to_dtype(DType::F32)?.contiguous()?);
        }
    }
    ensure!(!tensors.is_empty(), "there are no tensors in it");
    Ok(tensors)
}

/// Rejects tensors that are too large, individually or in total, before reading them.
fn check_sizes(file: &PthTensors) -> Result<()> {
    let mut all = 0usize;
    for (name, info) in file.tensor_infos() {
        let dims = info.layout.dims();
        let numbers = dims.iter().try_fold(1usize, |all, &dim| all.checked_mul(dim));
        let numbers = numbers.filter(|&numbers| numbers <= LARGEST_TENSOR);
        let numbers = numbers.with_context(|| {
            format!("tensor '{name:.80}' has shape {dims:?}, which is too large")
        })?;
        // The data before a tensor in its storage are decompressed too.
        all = all.saturating_add(numbers).saturating_add(info.layout.start_offset());
    }
    ensure!(
        all <= MOST_NUMBERS,
        "its tensors have {all} numbers, more than the {MOST_NUMBERS} that an encoder may have"
    );
    Ok(())
}

/// Removes the prefix that wrappers (Lightning modules, DataParallel, torch.compile) add to all
/// names.
fn without_prefix(tensors: HashMap<String, Tensor>) -> HashMap<String, Tensor> {
    let prefix = tensors.keys().find_map(|name| name.strip_suffix("cls_token")).unwrap_or_default();
    let prefix = prefix.to_owned();
    let own = |(name, tensor): (String, Tensor)| {
        Some((name.strip_prefix(prefix.as_str())?.to_owned(), tensor))
    };
    tensors.into_iter().filter_map(own).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use azimuth_network::parameters::{Init, ParameterSpec};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::super::export::state_dict;
    use super::*;

    /// Writes a checkpoint without tensor data: sizes are checked before the data are read.
    fn without_numbers(path: &Path, shapes: &[&[usize]]) -> Result<()> {
        let spec = |(index, shape): (usize, &&[usize])| {
            ParameterSpec::new(format!("t{index}"), shape, Init::Constant(0.0))
        };
        let specs: Vec<ParameterSpec> = shapes.iter().enumerate().map(spec).collect();
        let mut zip = ZipWriter::new(File::create(path)?);
        zip.start_file("archive/data.pkl", SimpleFileOptions::default())?;
        zip.write_all(&state_dict(&specs)?)?;
        zip.finish()?;
        Ok(())
    }

    #[test]
    fn tensors_too_large_together_are_refused_unread() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("bomb.pth");
        let large: &[usize] = &[1 << 14, 1 << 14];
        for (shapes, part) in [
            (&[large, large, &[1]][..], "its tensors have 536870913 numbers"),
            (&[&[1 << 14, 1 << 15]], "tensor 't0' has shape [16384, 32768], which is too large"),
        ] {
            without_numbers(&path, shapes)?;
            let error = format!("{:#}", Pth::read(&path).err().context("refused")?);
            assert!(error.contains(part) && error.contains("bomb.pth"), "{error}");
        }
        Ok(())
    }
}
