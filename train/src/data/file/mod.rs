//! The dataset file: positions, labels, families and splits in about four bytes a label. A complete
//! file, mapped into memory, so that the kernel can drop parts that are not in use; its description,
//! and the layout of its blocks.

pub mod family_code;
pub mod writer;

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_network::checksum::hex;
use cozy_chess::Color;
use family_code::EncodedFamily;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::data::family::{Family, Split};
use crate::data::packed::{Label, PackedPosition};

/// A dataset file. Positions and families are numbered in each split, from 0.
pub struct DatasetFile {
    path: PathBuf,
    file: File,
    map: Mmap,
    parts: [SplitPart; Split::NUM],
    description: Description,
}

impl DatasetFile {
    /// Opens a file and checks all its blocks.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(path).with_context(|| format!("dataset '{}'", path.display()))
    }

    fn read(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        ensure!(file.metadata()?.is_file(), "not a regular file");
        // SAFETY: the mapping is read-only. Nothing protects against another process that truncates
        // or writes the file after `check_length`; truncation ends this process with SIGBUS.
        let map = unsafe { Mmap::map(&file)? };
        let header = map.get(..BLOCK).context("too short for a dataset")?;
        ensure!(header[4..16] == MAGIC, "not a dataset of azimuth-train");
        let version = u32::from_le_bytes(std::array::from_fn(|index| header[16 + index]));
        let is_known = version == VERSION;
        ensure!(is_known, "version {version}, expected {VERSION}: it needs another Azimuth");
        ensure!(is_block_sound(header), "block 0: its checksum differs");
        let number =
            |at: usize| u64::from_le_bytes(std::array::from_fn(|index| header[at + index]));
        let blocks = [number(20), number(28), number(36)];
        // Length and checksum of the description follow the numbers of blocks.
        let text = description_bytes(&map, blocks, number(44))?;
        let is_sound = crc32fast::hash(text).to_le_bytes() == header[52..56];
        ensure!(is_sound, "the description's checksum differs");
        let description = serde_json::from_slice(text).context("its description")?;
        let mut first_block = 1;
        let [training, calibration, held_out] = blocks.map(|blocks| {
            let part = SplitPart::read(&map, first_block, blocks as usize);
            first_block += blocks as usize;
            part
        });
        let parts = [training?, calibration?, held_out?];
        Ok(Self { path: path.to_owned(), file, map, parts, description })
    }

    /// Fails if the file has become shorter: reading the missing part would end this process.
    pub fn check_length(&self) -> Result<()> {
        let name = || format!("dataset '{}'", self.path.display());
        let length = self.file.metadata().with_context(name)?.len();
        ensure!(
            length >= self.map.len() as u64,
            "{}: another process cut it short; put the whole file there and give the same command again",
            name()
        );
        Ok(())
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The description stored in the file.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// SHA-256 of its bytes. Reads the whole file.
    pub fn sha256(&self) -> String {
        hex(&Sha256::digest(&self.map))
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.map.len()
    }

    /// Number of positions in a split.
    pub fn len(&self, split: Split) -> usize {
        self.parts[split as usize].positions as usize
    }

    /// Number of blocks of families in all splits.
    pub fn blocks(&self) -> usize {
        self.parts.iter().map(|part| part.starts.len()).sum()
    }

    /// The families of the block `index`, below [`Self::blocks`], and their split.
    pub fn block(&self, index: usize) -> Result<(Split, Vec<Family>)> {
        let ends_after = |part: &SplitPart| index + 1 < part.first_block + part.starts.len();
        let number = self.parts.iter().position(ends_after).unwrap_or(Split::NUM - 1);
        let split = Split::ALL[number];
        let name = || format!("dataset '{}': block {}", self.path.display(), index + 1);
        let decoded = block_families(self.bytes_of(index + 1)).map(|family| family.decode());
        Ok((split, decoded.collect::<Result<_>>().with_context(name)?))
    }

    /// Calls `visit` with the positions `range` of a split and the indices of their families.
    pub fn positions(
        &self,
        split: Split,
        range: Range<usize>,
        mut visit: impl FnMut(PackedPosition, u32),
    ) -> Result<()> {
        let mut next = range.start;
        while next < range.end {
            let starts = &self.parts[split as usize].starts;
            let block = starts.partition_point(|start| start.position as usize <= next) - 1;
            let (start, bytes) = self.part_block(split, block);
            let (mut position, mut number) = (start.position as usize, start.family);
            for family in block_families(bytes) {
                let end = position + family.len();
                if next < end {
                    let wanted = next - position..range.end.min(end) - position;
                    let name = || format!("dataset '{}': position {next}", self.path.display());
                    let visited = family.positions(wanted, |position| visit(position, number));
                    visited.with_context(name)?;
                    next = end;
                    if next >= range.end {
                        return Ok(());
                    }
                }
                (position, number) = (end, number + 1);
            }
        }
        Ok(())
    }

    /// The label and the side to move of every position of a split, in order.
    pub fn labels(&self, split: Split) -> impl Iterator<Item = (Label, Color)> {
        self.families(split).flat_map(|family| {
            let side = family.side_to_move();
            (0..family.len()).map(move |index| (family.label(index), side))
        })
    }

    /// The families of a split, in order.
    pub fn families(&self, split: Split) -> impl Iterator<Item = EncodedFamily<'_>> {
        let blocks = 0..self.parts[split as usize].starts.len();
        blocks.flat_map(move |block| block_families(self.part_block(split, block).1))
    }

    fn part_block(&self, split: Split, block: usize) -> (Start, &[u8]) {
        let part = &self.parts[split as usize];
        (part.starts[block], self.bytes_of(part.first_block + block))
    }

    fn bytes_of(&self, block: usize) -> &[u8] {
        &self.map[block * BLOCK..][..BLOCK]
    }
}

/// The indices in a split of the first position and family of a block.
#[derive(Clone, Copy)]
struct Start {
    position: u32,
    family: u32,
}

struct SplitPart {
    first_block: usize,
    starts: Vec<Start>,
    positions: u32,
}

impl SplitPart {
    fn read(map: &[u8], first_block: usize, blocks: usize) -> Result<Self> {
        let mut starts = Vec::with_capacity(blocks);
        let (mut position, mut family) = (0u32, 0u32);
        for number in first_block..first_block + blocks {
            let block = &map[number * BLOCK..][..BLOCK];
            check_block(block).with_context(|| format!("block {number}"))?;
            let (families, positions) = block_counts(block);
            starts.push(Start { position, family });
            let next = position.checked_add(positions as u32);
            position = next.context("more than 4,294,967,295 positions")?;
            // Every family has a position, so there are no more families than positions.
            family += families as u32;
        }
        Ok(Self { first_block, starts, positions: position })
    }
}

/// The bytes of the description. Fails if the file's length does not match its header.
fn description_bytes(map: &[u8], blocks: [u64; Split::NUM], length: u64) -> Result<&[u8]> {
    let all = blocks.iter().try_fold(1u64, |sum, &count| sum.checked_add(count));
    let start = all.and_then(|blocks| blocks.checked_mul(BLOCK as u64));
    let expected = start.and_then(|start| start.checked_add(length));
    let is_whole = expected == Some(map.len() as u64);
    ensure!(is_whole, "{} bytes long, not as its header says: it is not complete", map.len());
    Ok(&map[map.len() - length as usize..])
}

/// The description at the end of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Description {
    pub trainer: String,
    /// Number of positions left out as duplicates, ignoring the move counters.
    pub duplicates: u64,
    pub filtered: u64,
    /// Numbers of labelled positions for training, calibration and metrics.
    pub positions: [u64; Split::NUM],
    pub families: [u64; Split::NUM],
    pub sources: Vec<Source>,
}

impl Description {
    pub fn new() -> Self {
        let trainer = concat!("azimuth-train ", env!("CARGO_PKG_VERSION")).to_owned();
        Self { trainer, ..Self::default() }
    }
}

/// A source of labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Its file name without the folder.
    pub name: String,
    /// The format, or the way the labels were made.
    pub made_by: Value,
    /// SHA-256 of its bytes. For labels by an engine: of the file of starting positions.
    pub sha256: String,
    /// Index of the first record used (game, line or labelling part).
    pub first: u64,
    /// Index after the last record used.
    pub end: u64,
    pub labels: u64,
    pub skipped: BTreeMap<String, u64>,
}

impl Source {
    /// A source whose records from `first` on will be used.
    pub fn new(name: String, made_by: Value, sha256: String, first: u64) -> Self {
        let (labels, skipped) = (0, BTreeMap::new());
        Self { name, made_by, sha256, first, end: first, labels, skipped }
    }

    /// Merges `next` if it continues the same source. Returns false if it does not.
    pub fn join(&mut self, next: &Self) -> bool {
        let continues = self.name == next.name
            && self.sha256 == next.sha256
            && self.made_by == next.made_by
            && self.end == next.first;
        if continues {
            self.end = next.end;
            self.labels += next.labels;
            for (reason, count) in &next.skipped {
                *self.skipped.entry(reason.clone()).or_default() += count;
            }
        }
        continues
    }
}

/// Bytes of a block.
pub const BLOCK: usize = 4096;

/// Bytes of a block before its families.
pub const BLOCK_HEADER: usize = 8;

/// The bytes after the first checksum of a file.
pub const MAGIC: [u8; 12] = *b"azimuth-data";

/// Version of the layout; files of other versions are rejected.
pub const VERSION: u32 = 1;

/// A block that is being filled.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct OpenBlock {
    families: u16,
    positions: u16,
    bytes: Vec<u8>,
}

impl OpenBlock {
    /// Adds an encoded family. Returns false if it does not fit.
    pub fn push(&mut self, family: &[u8], positions: usize) -> bool {
        let fits = BLOCK_HEADER + self.bytes.len() + family.len() <= BLOCK;
        if fits {
            self.bytes.extend_from_slice(family);
            self.families += 1;
            self.positions += positions as u16;
        }
        fits
    }

    pub fn is_empty(&self) -> bool {
        self.families == 0
    }

    pub fn close(&self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        block[4..6].copy_from_slice(&self.families.to_le_bytes());
        block[6..8].copy_from_slice(&self.positions.to_le_bytes());
        block[BLOCK_HEADER..][..self.bytes.len()].copy_from_slice(&self.bytes);
        seal_block(&mut block);
        block
    }
}

/// Checks a block's checksum, and its families against its header.
pub fn check_block(block: &[u8]) -> Result<()> {
    ensure!(is_block_sound(block), "its checksum differs");
    let (count, positions) = block_counts(block);
    let found: Vec<_> = block_families(block).collect();
    ensure!(found.len() == count, "it ends within a family");
    let labelled: usize = found.iter().map(EncodedFamily::len).sum();
    (labelled == positions).then_some(()).context("its families do not add up")
}

/// The families of a block that passed [`check_block`].
pub fn block_families(block: &[u8]) -> impl Iterator<Item = EncodedFamily<'_>> {
    let mut rest = &block[BLOCK_HEADER..];
    (0..block_counts(block).0).map_while(move |_| {
        let (family, after) = EncodedFamily::split(rest)?;
        rest = after;
        Some(family)
    })
}

/// The numbers of families and positions in a block's header.
pub fn block_counts(block: &[u8]) -> (usize, usize) {
    let number = |at: usize| usize::from(u16::from_le_bytes([block[at], block[at + 1]]));
    (number(4), number(6))
}

pub fn is_block_sound(block: &[u8]) -> bool {
    crc32fast::hash(&block[4..]).to_le_bytes() == block[..4]
}

/// Writes a block's checksum into it.
pub fn seal_block(block: &mut [u8; BLOCK]) {
    let checksum = crc32fast::hash(&block[4..]);
    block[..4].copy_from_slice(&checksum.to_le_bytes());
}
