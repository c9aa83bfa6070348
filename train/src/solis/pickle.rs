//! Validation of a pickle before it is read. A pickle is a program that can make Python call any
//! function. This module calls nothing and rejects everything that is not part of a checkpoint. It
//! also rejects pickles that would take more memory than a checkpoint needs, for example through
//! nested references.

use std::collections::HashMap;
use std::io::{BufRead, Cursor, Read};

use anyhow::{Context, Result, bail, ensure};

/// Maximum number of objects in a checkpoint's pickle, including copies by reference.
const MOST_OBJECTS: u64 = 1 << 22;

/// Names that PyTorch and Lightning use in checkpoints of tensors and settings.
const KNOWN: [(&str, &[&str]); 8] = [
    ("collections", &["OrderedDict", "defaultdict"]),
    ("torch._utils", &["_rebuild_tensor_v2", "_rebuild_parameter"]),
    ("torch._tensor", &["_rebuild_from_type_v2"]),
    (
        "torch",
        &[
            "FloatStorage",
            "DoubleStorage",
            "HalfStorage",
            "BFloat16Storage",
            "LongStorage",
            "IntStorage",
            "ByteStorage",
            "BoolStorage",
            "Size",
            "device",
            "float32",
        ],
    ),
    ("torch.nn.parameter", &["Parameter"]),
    ("lightning.fabric.utilities.data", &["AttributeDict"]),
    ("lightning_fabric.utilities.data", &["AttributeDict"]),
    ("pytorch_lightning.utilities.parsing", &["AttributeDict"]),
];

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
        ensure!(
            joined.depth <= DEEPEST,
            "more than {DEEPEST} objects within one another in the pickle"
        );
        self.stack.push(joined);
        Ok(())
    }

    /// Combines the objects since the last mark into one. With `into`, includes the object before
    /// the mark.
    fn join_since_mark(&mut self, into: bool) -> Result<()> {
        let mark = self.marks.pop().context("the pickle has no mark there")?;
        let count = self
            .stack
            .len()
            .checked_sub(mark)
            .context("the pickle removed objects below its mark")?;
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

/// Rejects a pickle that is damaged, too large, or uses names other than those of a checkpoint.
pub fn check(pickle: &[u8]) -> Result<()> {
    let mut input = Cursor::new(pickle);
    let mut objects = Extents::default();
    loop {
        let [code] = bytes(&mut input)?;
        match code {
            b'.' => return Ok(()),
            0x80 => skip(&mut input, 1)?,
            b'c' => {
                let (module, name) = (line(&mut input)?, line(&mut input)?);
                let known =
                    |(m, names): &(&str, &[&str])| *m == module && names.contains(&name.as_str());
                ensure!(
                    KNOWN.iter().any(known),
                    "it names '{module:.60}.{name:.60}', which is code and no part of a checkpoint"
                );
                objects.push(Extent::ONE)?;
            }
            b'q' => {
                let [place] = bytes(&mut input)?;
                objects.remember(place.into())?;
            }
            b'r' => objects.remember(u32::from_le_bytes(bytes(&mut input)?))?,
            b'h' => {
                let [place] = bytes(&mut input)?;
                objects.recall(place.into())?;
            }
            b'j' => objects.recall(u32::from_le_bytes(bytes(&mut input)?))?,
            b'X' => {
                let length = u32::from_le_bytes(bytes(&mut input)?);
                skip(&mut input, length)?;
                objects.push(Extent::ONE)?;
            }
            b'K' | b'M' | b'J' | b'G' => {
                let length = match code {
                    b'K' => 1,
                    b'M' => 2,
                    b'J' => 4,
                    _ => 8,
                };
                skip(&mut input, length)?;
                objects.push(Extent::ONE)?;
            }
            0x8a => {
                let [length] = bytes(&mut input)?;
                ensure!(length <= 8, "the pickle has a number of {length} bytes");
                skip(&mut input, length.into())?;
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

fn bytes<const N: usize>(input: &mut Cursor<&[u8]>) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).context("the pickle has no end")?;
    Ok(bytes)
}

fn skip(input: &mut Cursor<&[u8]>, length: u32) -> Result<()> {
    let read = std::io::copy(&mut input.by_ref().take(length.into()), &mut std::io::sink())?;
    ensure!(read == u64::from(length), "the pickle has no end");
    Ok(())
}

fn line(input: &mut Cursor<&[u8]>) -> Result<String> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_refused() {
        let pickle = b"\x80\x02cos\nsystem\nX\x02\0\0\0ls\x85R.";
        let error = check(pickle).expect_err("code").to_string();
        assert!(error.contains("'os.system', which is code"), "{error}");
        let harmless = b"\x80\x02ccollections\nOrderedDict\n)R.";
        assert!(check(harmless).is_ok());
    }

    #[test]
    fn references_to_references_are_refused() {
        // A list that contains itself twice, nested forty times: a trillion objects in 400 bytes.
        let mut pickle = b"\x80\x02]q\0".to_vec();
        for place in 0..40 {
            pickle.extend([b'h', place, b'h', place, 0x86, b'q', place + 1]);
        }
        pickle.push(b'.');
        let error = check(&pickle).expect_err("too many").to_string();
        assert!(error.contains("objects in the pickle"), "{error}");
    }

    #[test]
    fn a_well_without_a_bottom_is_refused() {
        let mut pickle = b"\x80\x02N".to_vec();
        pickle.extend([0x85; 100_000]);
        pickle.push(b'.');
        let error = check(&pickle).expect_err("too deep").to_string();
        assert!(error.contains("within one another"), "{error}");
    }

    #[test]
    fn no_bytes_panic() {
        let pickle = b"\x80\x02}q\0(X\x01\0\0\0ah\0K\x01M\0\x01J\0\0\0\0\x87t\x8a\x01\x05u.";
        for length in 0..pickle.len() {
            assert!(check(&pickle[..length]).is_err(), "{length}");
            for value in 0..=255 {
                let mut damaged = pickle.to_vec();
                damaged[length] = value;
                let _ = check(&damaged);
            }
        }
    }
}
