//! Reads the tensors of a PyTorch checkpoint: `.pth`, or Lightning's `.ckpt`, where they are under
//! `state_dict`. The pickle in it is checked first: it may not name code or be too large.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::pickle::{Object, PthTensors, Stack};
use candle_core::{DType, Tensor};
use zip::ZipArchive;

use crate::data::read::catch_panic;

/// Maximum size in bytes of a checkpoint's pickle, which has only names and shapes.
const LARGEST_PICKLE: u64 = 16 << 20;

/// Maximum number of values in a tensor of an encoder.
const LARGEST_TENSOR: usize = 1 << 28;

/// Maximum number of values in all tensors together: 2 GiB as f32. Zeros compress well, so a small
/// archive could contain far more.
const MOST_NUMBERS: usize = 1 << 29;

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
        check_pickle(&pickle).with_context(name)?;
        let mut stack = Stack::empty();
        stack.read_loop(&mut pickle.as_slice()).with_context(name)?;
        let root = stack.finalize().with_context(name)?;
        let key = Some("state_dict").filter(|key| entry(&root, key).is_some());
        let heads = entry(&root, "hyper_parameters").and_then(|all| entry(all, "num_heads"));
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
    let fits = bytes.len() as u64 <= LARGEST_PICKLE;
    ensure!(fits, "its pickle is larger than {LARGEST_PICKLE} bytes");
    Ok(bytes)
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
        let large = || format!("tensor '{name:.80}' has shape {dims:?}, which is too large");
        let numbers = numbers.filter(|&numbers| numbers <= LARGEST_TENSOR).with_context(large)?;
        // The data before a tensor in its storage are decompressed too.
        all = all.saturating_add(numbers).saturating_add(info.layout.start_offset());
    }
    ensure!(
        all <= MOST_NUMBERS,
        "its tensors have {all} numbers, more than the {MOST_NUMBERS} that an encoder may have"
    );
    Ok(())
}

/// Removes the prefix of wrappers (Lightning modules, DataParallel, torch.compile) from all names.
fn without_prefix(tensors: HashMap<String, Tensor>) -> HashMap<String, Tensor> {
    let prefix = tensors.keys().find_map(|name| name.strip_suffix("cls_token")).unwrap_or_default();
    let prefix = prefix.to_owned();
    let own = |(name, tensor): (String, Tensor)| {
        Some((name.strip_prefix(prefix.as_str())?.to_owned(), tensor))
    };
    tensors.into_iter().filter_map(own).collect()
}

/// Modules, and the names in them that PyTorch and Lightning use in checkpoints of tensors and
/// settings.
const KNOWN_NAMES: [(&str, &str); 8] = [
    ("collections", "OrderedDict defaultdict"),
    ("torch._utils", "_rebuild_tensor_v2 _rebuild_parameter"),
    ("torch._tensor", "_rebuild_from_type_v2"),
    (
        "torch",
        "FloatStorage DoubleStorage HalfStorage BFloat16Storage LongStorage IntStorage ByteStorage \
         BoolStorage Size device float32",
    ),
    ("torch.nn.parameter", "Parameter"),
    ("lightning.fabric.utilities.data", "AttributeDict"),
    ("lightning_fabric.utilities.data", "AttributeDict"),
    ("pytorch_lightning.utilities.parsing", "AttributeDict"),
];

/// Rejects a pickle that is damaged, too large, or uses names other than those of a checkpoint.
pub fn check_pickle(pickle: &[u8]) -> Result<()> {
    let mut input = pickle;
    let mut objects = Extents::default();
    loop {
        let code = byte(&mut input)?;
        match code {
            b'.' => return Ok(()),
            0x80 => skip(&mut input, 1)?,
            b'c' => {
                let (module, name) = (line(&mut input), line(&mut input));
                let known = |(of_module, names): &(&str, &str)| {
                    *of_module == module && names.split(' ').any(|known| known == name)
                };
                ensure!(
                    KNOWN_NAMES.iter().any(known),
                    "it names '{module:.60}.{name:.60}', which is code and no part of a checkpoint"
                );
                objects.push(Extent::ONE)?;
            }
            b'q' => objects.remember(byte(&mut input)?.into())?,
            b'r' => objects.remember(number(&mut input)?)?,
            b'h' => objects.recall(byte(&mut input)?.into())?,
            b'j' => objects.recall(number(&mut input)?)?,
            b'X' | b'K' | b'M' | b'J' | b'G' | 0x8a => {
                let length = match code {
                    b'X' => number(&mut input)?,
                    b'K' => 1,
                    b'M' => 2,
                    b'J' => 4,
                    b'G' => 8,
                    _ => byte(&mut input)?.into(),
                };
                let fits = code != 0x8a || length <= 8;
                ensure!(fits, "the pickle has a number of {length} bytes");
                skip(&mut input, length)?;
                objects.push(Extent::ONE)?;
            }
            b'N' | b')' | b']' | b'}' | 0x88 | 0x89 => objects.push(Extent::ONE)?,
            b'(' => objects.marks.push(objects.stack.len()),
            b't' | b'd' => objects.join_since_mark(false)?,
            b'e' | b'u' => objects.join_since_mark(true)?,
            b'Q' | 0x85 => objects.join(1)?,
            b'R' | b'b' | b'a' | 0x81 | 0x86 => objects.join(2)?,
            b's' | 0x87 => objects.join(3)?,
            other => bail!("the pickle has the unknown operation {other:#04x}"),
        }
    }
}

fn take<'a>(input: &mut &'a [u8], length: u32) -> Result<&'a [u8]> {
    input.split_off(..length as usize).context("the pickle has no end")
}

fn skip(input: &mut &[u8], length: u32) -> Result<()> {
    take(input, length).map(drop)
}

fn byte(input: &mut &[u8]) -> Result<u8> {
    Ok(take(input, 1)?[0])
}

fn number(input: &mut &[u8]) -> Result<u32> {
    Ok(u32::from_le_bytes(take(input, 4)?.try_into()?))
}

fn line(input: &mut &[u8]) -> String {
    let end = input.iter().position(|&byte| byte == b'\n').map_or(input.len(), |end| end + 1);
    let (line, rest) = input.split_at(end);
    *input = rest;
    String::from_utf8_lossy(line).trim_end().to_owned()
}

/// Maximum number of objects in a checkpoint's pickle, including copies by reference.
const MOST_OBJECTS: u64 = 1 << 22;

/// Maximum nesting depth of objects.
const DEEPEST: u32 = 100;

/// The number of objects within an object, and their nesting depth.
#[derive(Clone, Copy)]
struct Extent {
    size: u64,
    depth: u32,
}

impl Extent {
    const ONE: Self = Self { size: 1, depth: 1 };
}

/// Objects on the stack and in the memo.
#[derive(Default)]
struct Extents {
    stack: Vec<Extent>,
    /// Stack positions of the marks.
    marks: Vec<usize>,
    memo: HashMap<u32, Extent>,
    /// Number of objects created so far.
    made: u64,
}

impl Extents {
    fn push(&mut self, object: Extent) -> Result<()> {
        self.made = self.made.saturating_add(object.size);
        ensure!(self.made <= MOST_OBJECTS, "more than {MOST_OBJECTS} objects in the pickle");
        self.stack.push(object);
        Ok(())
    }

    fn pop(&mut self) -> Result<Extent> {
        self.stack.pop().context("the pickle takes from an empty stack")
    }

    /// Combines the last `count` objects into one.
    fn join(&mut self, count: usize) -> Result<()> {
        let mut joined = Extent::ONE;
        for _ in 0..count {
            let object = self.pop()?;
            joined.size = joined.size.saturating_add(object.size);
            joined.depth = joined.depth.max(object.depth + 1);
        }
        let fits = joined.depth <= DEEPEST;
        ensure!(fits, "more than {DEEPEST} objects within one another in the pickle");
        self.stack.push(joined);
        Ok(())
    }

    /// Combines the objects since the last mark; with `into`, also the object before the mark.
    fn join_since_mark(&mut self, into: bool) -> Result<()> {
        let mark = self.marks.pop().context("the pickle has no mark there")?;
        let count = self.stack.len().checked_sub(mark);
        let count = count.context("the pickle removed objects below its mark")?;
        self.join(count + usize::from(into))
    }

    fn remember(&mut self, place: u32) -> Result<()> {
        let object = *self.stack.last().context("the pickle remembers nothing")?;
        // The memo holds a copy.
        self.made = self.made.saturating_add(object.size);
        self.memo.insert(place, object);
        Ok(())
    }

    fn recall(&mut self, place: u32) -> Result<()> {
        let object = self.memo.get(&place).copied();
        self.push(object.context("the pickle recalls what it did not remember")?)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use azimuth_network::parameters::{Init, ParameterSpec};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::super::state_dict;
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

    #[test]
    fn too_many_and_too_deep_objects_are_refused() {
        // A list that contains itself twice, nested forty times: a trillion objects in 400 bytes.
        let mut many = b"\x80\x02]q\0".to_vec();
        for place in 0..40 {
            many.extend([b'h', place, b'h', place, 0x86, b'q', place + 1]);
        }
        let deep = [&b"\x80\x02N"[..], &[0x85; 100_000]].concat();
        for (mut pickle, part) in [(many, "objects in the pickle"), (deep, "within one another")] {
            pickle.push(b'.');
            let error = check_pickle(&pickle).expect_err(part).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn no_bytes_panic() {
        let pickle = b"\x80\x02}q\0(X\x01\0\0\0ah\0K\x01M\0\x01J\0\0\0\0\x87t\x8a\x01\x05u.";
        for length in 0..pickle.len() {
            assert!(check_pickle(&pickle[..length]).is_err(), "{length}");
            for value in 0..=255 {
                let mut damaged = pickle.to_vec();
                damaged[length] = value;
                let _ = check_pickle(&damaged);
            }
        }
    }
}
