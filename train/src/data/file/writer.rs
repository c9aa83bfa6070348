//! Writes a dataset file: one file of blocks for each split, joined at the end, so that the final
//! name never has an incomplete file. A journal keeps the progress.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_network::replace_file::{open_locked, read_if_exists, remove_unfinished, replace_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::family_code::{EncodedFamily, encode};
use super::{
    BLOCK, Description, MAGIC, OpenBlock, Source, VERSION, block_families, check_block, seal_block,
};
use crate::data::family::{Family, Split};

/// The state of the writer, for a journal.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct WriterState {
    blocks: [u64; Split::NUM],
    open: [OpenBlock; Split::NUM],
}

/// Writes the blocks of each split to a temporary file.
pub struct Writer {
    out: PathBuf,
    files: [BufWriter<File>; Split::NUM],
    state: WriterState,
    scratch: Vec<u8>,
}

impl Writer {
    /// Opens the temporary files of `out` and truncates them to `state`, so that writing continues
    /// from there. Fails if another process writes `out`.
    pub fn open(out: &Path, state: WriterState) -> Result<Self> {
        let open = |split: Split| -> Result<BufWriter<File>> {
            let path = part_path(out, split);
            let name = || format!("'{}'", path.display());
            let file = open_locked(&path).with_context(name)?;
            let mut file = file.context("another process writes it").with_context(name)?;
            let blocks = state.blocks[split as usize];
            let length = place(split, blocks);
            let there = file.metadata().with_context(name)?.len();
            ensure!(blocks == 0 || there >= length, "{}: shorter than its journal says", name());
            file.set_len(length).with_context(name)?;
            file.seek(SeekFrom::End(0)).with_context(name)?;
            Ok(BufWriter::with_capacity(1 << 20, file))
        };
        let [training, calibration, held_out] = Split::ALL.map(open);
        let files = [training?, calibration?, held_out?];
        Ok(Self { out: out.to_owned(), files, state, scratch: Vec::new() })
    }

    pub fn add(&mut self, split: Split, family: &Family) -> Result<()> {
        self.scratch.clear();
        encode(family, &mut self.scratch)?;
        let open = &mut self.state.open[split as usize];
        if !open.push(&self.scratch, family.len()) {
            self.close_block(split)?;
            let fits = self.state.open[split as usize].push(&self.scratch, family.len());
            ensure!(fits, "a family of {} bytes does not fit into a block", self.scratch.len());
        }
        Ok(())
    }

    /// Flushes everything to disk, and returns the state.
    pub fn sync(&mut self) -> Result<WriterState> {
        for file in &mut self.files {
            let synced = file.flush().and_then(|()| file.get_ref().sync_data());
            synced.with_context(|| format!("'{}'", self.out.display()))?;
        }
        Ok(self.state.clone())
    }

    /// Calls `visit` with every family written so far.
    pub fn visit(&mut self, mut visit: impl FnMut(EncodedFamily<'_>) -> Result<()>) -> Result<()> {
        self.sync()?;
        for split in Split::ALL {
            let path = part_path(&self.out, split);
            let name = || format!("'{}'", path.display());
            let file = File::open(&path).with_context(name)?;
            let mut file = BufReader::with_capacity(1 << 20, file);
            file.seek_relative(place(split, 0) as i64).with_context(name)?;
            let mut block = [0; BLOCK];
            for number in 0..self.state.blocks[split as usize] {
                file.read_exact(&mut block).with_context(name)?;
                check_block(&block).with_context(|| format!("{}: block {number}", name()))?;
                block_families(&block).try_for_each(&mut visit)?;
            }
            block_families(&self.state.open[split as usize].close()).try_for_each(&mut visit)?;
        }
        Ok(())
    }

    /// Joins the files of the splits, adds the header and `description`, and renames the result.
    pub fn finish(mut self, description: &Description) -> Result<()> {
        for split in Split::ALL {
            if !self.state.open[split as usize].is_empty() {
                self.close_block(split)?;
            }
        }
        self.sync()?;
        let name = || format!("'{}'", self.out.display());
        let text = serde_json::to_vec(description)?;
        let header = header(self.state.blocks, &text);
        let [file, _, _] = &mut self.files;
        let mut write = || -> std::io::Result<()> {
            for split in [Split::Calibration, Split::HeldOut] {
                std::io::copy(&mut File::open(part_path(&self.out, split))?, file)?;
            }
            file.write_all(&text)?;
            file.rewind()?;
            file.write_all(&header)?;
            file.flush()?;
            file.get_ref().sync_all()?;
            fs::rename(part_path(&self.out, Split::Training), &self.out)
        };
        write().with_context(name)?;
        remove_parts(&self.out);
        Ok(())
    }

    fn close_block(&mut self, split: Split) -> Result<()> {
        let open = std::mem::take(&mut self.state.open[split as usize]);
        let written = self.files[split as usize].write_all(&open.close());
        written.with_context(|| format!("'{}'", self.out.display()))?;
        self.state.blocks[split as usize] += 1;
        Ok(())
    }
}

/// Removes the files of the splits beside a finished file.
pub fn remove_parts(out: &Path) {
    for split in Split::ALL {
        // The file may already be gone.
        let _ = fs::remove_file(part_path(out, split));
    }
}

const PART_NAMES: [&str; Split::NUM] = ["training", "calibration", "held-out"];

fn part_path(out: &Path, split: Split) -> PathBuf {
    out.with_added_extension(format!("unfinished-{}", PART_NAMES[split as usize]))
}

/// The offset of a block in the file of its split. The header precedes the training blocks.
fn place(split: Split, block: u64) -> u64 {
    let header = u64::from(split == Split::Training);
    (block + header) * BLOCK as u64
}

fn header(blocks: [u64; Split::NUM], description: &[u8]) -> [u8; BLOCK] {
    let mut bytes = [0; 4].to_vec();
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend(blocks.iter().flat_map(|count| count.to_le_bytes()));
    bytes.extend_from_slice(&(description.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(description).to_le_bytes());
    let mut block = [0; BLOCK];
    block[..bytes.len()].copy_from_slice(&bytes);
    seal_block(&mut block);
    block
}

/// The progress of a run.
#[derive(Clone, Serialize, Deserialize)]
pub struct Journal {
    /// The settings that determine the output; a journal is valid only for equal settings.
    pub job: Value,
    pub description: Description,
    /// Index of the current input.
    pub input: usize,
    /// The current source so far. Its `end` is the first record that is not yet written.
    pub current: Option<Source>,
    pub writer: WriterState,
}

impl Journal {
    pub fn new(job: Value) -> Self {
        let (description, writer) = (Description::new(), WriterState::default());
        Self { job, description, input: 0, current: None, writer }
    }

    /// Reads the journal of `out`; `None` if there is none.
    pub fn read(out: &Path) -> Result<Option<Self>> {
        let path = journal_path(out);
        let name = || format!("journal '{}'", path.display());
        let bytes = read_if_exists(&path).with_context(name)?;
        bytes.map(|bytes| serde_json::from_slice(&bytes).with_context(name)).transpose()
    }

    /// Writes the journal of `out` atomically.
    pub fn write(&self, out: &Path) -> Result<()> {
        replace_file(&journal_path(out), &serde_json::to_vec(self)?)
    }

    /// Removes the unfinished files of `out` and of its journal that killed processes left. The
    /// caller must hold the lock on `out`, unless `out` is complete.
    pub fn remove_unfinished(out: &Path) {
        remove_unfinished(&journal_path(out));
        // A process that was killed while it checked the output.
        remove_unfinished(out);
    }

    pub fn remove(out: &Path) -> Result<()> {
        let path = journal_path(out);
        fs::remove_file(&path).with_context(|| format!("cannot remove '{}'", path.display()))
    }
}

fn journal_path(out: &Path) -> PathBuf {
    out.with_added_extension("journal")
}
