//! Safetensors files with a checksum. The metadata of such a file contain, under `sha256`, the
//! SHA-256 of everything else in the file, in this order:
//!
//! - the number of the other metadata entries;
//! - the key and value of each of them, in the order of the keys;
//! - the name, data type, number of dimensions, sizes and bytes of each tensor, in the order of the
//!   names.
//!
//! The length of each text, and of each tensor's bytes, precedes it. Numbers are 64-bit
//! little-endian.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Result, anyhow, ensure};
use safetensors::tensor::View;
use safetensors::{SafeTensors, serialize};
use sha2::{Digest, Sha256};

/// Metadata key of the checksum.
const KEY: &str = "sha256";

/// Size, in bytes, of the largest header that is read; those of Azimuth have at most 10 kB. Parsing
/// takes some fifteen times the memory of the header.
const LARGEST_HEADER: u64 = 1 << 20;

/// Size, in bytes, of the header length at the start of a file.
const LENGTH: usize = size_of::<u64>();

/// Serialises tensors and metadata to a file with a checksum. Equal content gives equal bytes.
pub fn to_bytes<T: View>(
    tensors: impl IntoIterator<Item = (String, T)>,
    metadata: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<Vec<u8>> {
    let bare = serialize(tensors, None)?;
    let mut metadata: BTreeMap<&str, String> = metadata.into_iter().collect();
    let entries = metadata.iter().map(|(&key, value)| (key, value.as_str()));
    let checksum = checksum(&SafeTensors::deserialize(&bare)?, entries.collect());
    metadata.insert(KEY, checksum);

    // safetensors writes metadata in the order of a hash table, which differs from run to run.
    let (header_length, _) = SafeTensors::read_metadata(&bare)?;
    let (header, data) = bare[LENGTH..].split_at(header_length);
    let tensors = std::str::from_utf8(header)?.trim_end().trim_start_matches('{');
    let comma = if tensors.starts_with('}') { "" } else { "," };
    let metadata = serde_json::to_string(&metadata)?;
    let mut header = format!("{{\"__metadata__\":{metadata}{comma}{tensors}").into_bytes();
    header.resize(header.len().next_multiple_of(LENGTH), b' ');
    Ok([&(header.len() as u64).to_le_bytes(), header.as_slice(), data].concat())
}

/// Fails if the content does not match the stored checksum, or if the header is larger than 1 MiB.
/// A file without a checksum, as older versions wrote, is accepted.
pub fn check(bytes: &[u8]) -> Result<()> {
    let malformed = |error| anyhow!("not a complete safetensors file ({error})");
    if let Some((length, _)) = bytes.split_first_chunk() {
        let length = u64::from_le_bytes(*length);
        ensure!(
            length <= LARGEST_HEADER,
            "not a complete safetensors file (a header of {length} bytes, the limit is \
             {LARGEST_HEADER}); use another copy"
        );
    }
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(malformed)?;
    let none = HashMap::new();
    let metadata = header.metadata().as_ref().unwrap_or(&none);
    let Some(expected) = metadata.get(KEY) else { return Ok(()) };
    let file = SafeTensors::deserialize(bytes).map_err(malformed)?;
    let others = metadata.iter().filter(|(key, _)| *key != KEY);
    let found =
        checksum(&file, others.map(|(key, value)| (key.as_str(), value.as_str())).collect());
    ensure!(
        found == *expected,
        "the file is damaged: its content does not have the SHA-256 that it names; use another copy"
    );
    Ok(())
}

fn checksum(file: &SafeTensors<'_>, metadata: BTreeMap<&str, &str>) -> String {
    let mut hash = Sha256::new();
    let number = |hash: &mut Sha256, number: usize| hash.update((number as u64).to_le_bytes());
    let text = |hash: &mut Sha256, bytes: &[u8]| {
        number(hash, bytes.len());
        hash.update(bytes);
    };
    number(&mut hash, metadata.len());
    for (key, value) in metadata {
        text(&mut hash, key.as_bytes());
        text(&mut hash, value.as_bytes());
    }
    for (name, tensor) in file.tensors().into_iter().collect::<BTreeMap<_, _>>() {
        text(&mut hash, name.as_bytes());
        text(&mut hash, tensor.dtype().to_string().as_bytes());
        number(&mut hash, tensor.shape().len());
        tensor.shape().iter().for_each(|&size| number(&mut hash, size));
        text(&mut hash, tensor.data());
    }
    hex(&hash.finalize())
}

/// Bytes in hexadecimal digits, as `sha256sum` prints a hash.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, Tensor};

    use super::*;

    fn example() -> Result<Vec<u8>> {
        let device = Device::Cpu;
        let tensors = [
            ("a".to_owned(), Tensor::arange(0f32, 24.0, &device)?.reshape((4, 6))?),
            ("b".to_owned(), Tensor::zeros(3, DType::F16, &device)?),
            ("c".to_owned(), Tensor::new(7i64, &device)?),
        ];
        to_bytes(tensors, [("step", "12".to_owned()), ("config", "{\"seed\":1}".to_owned())])
    }

    #[test]
    fn every_flipped_bit_is_noticed_or_changes_nothing() -> Result<()> {
        let bytes = example()?;
        check(&bytes)?;
        let content = |bytes: &[u8]| -> Option<_> {
            let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
            let mut metadata = header.metadata().clone().unwrap_or_default();
            metadata.retain(|key, _| ["step", "config"].contains(&key.as_str()));
            let file = SafeTensors::deserialize(bytes).ok()?;
            let tensors: BTreeMap<_, _> = file.tensors().into_iter().collect();
            let owned = tensors.into_iter().map(|(name, tensor)| {
                (name, tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec())
            });
            Some((metadata, owned.collect::<Vec<_>>()))
        };
        let whole = content(&bytes);
        assert!(whole.is_some());
        let mut unnoticed = Vec::new();
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if check(&damaged).is_ok() {
                assert!(content(&damaged) == whole, "bit {bit}");
                unnoticed.push(bit / 8);
            }
        }
        // If the checksum's key is damaged, the file counts as one without a checksum; a tab in
        // place of a space changes nothing.
        let text = String::from_utf8_lossy(&bytes);
        let key = text.find(KEY).expect("a checksum");
        let data = LENGTH + SafeTensors::read_metadata(&bytes)?.0;
        for byte in unnoticed {
            let is_space = byte < data && bytes[byte] == b' ';
            assert!((key..key + KEY.len()).contains(&byte) || is_space, "byte {byte}");
        }
        Ok(())
    }

    #[test]
    fn a_large_header_is_refused_before_it_is_parsed() {
        let mut bytes = vec![b'['; 4 << 20];
        bytes[..LENGTH].copy_from_slice(&(3u64 << 20).to_le_bytes());
        let error = check(&bytes).expect_err("large").to_string();
        assert!(error.contains("header of 3145728 bytes"), "{error}");
    }

    #[test]
    fn the_same_content_gives_the_same_bytes() -> Result<()> {
        let first = example()?;
        for _ in 0..20 {
            assert_eq!(example()?, first);
        }
        let nothing = to_bytes(Vec::<(String, Tensor)>::new(), [("step", "0".to_owned())])?;
        check(&nothing)?;
        assert!(SafeTensors::deserialize(&nothing)?.is_empty());
        Ok(())
    }
}
