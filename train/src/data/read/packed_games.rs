//! A dataset file as a source, for merging, filtering and export.

use std::sync::Arc;

use anyhow::Result;
use indicatif::ProgressBar;

use super::games::{Games, ReadError, Skipped};
use crate::data::family::Game;
use crate::data::file::dataset_file::DatasetFile;

/// The blocks of a dataset file. Each block is treated as one game and keeps its split.
pub struct PackedGames {
    file: Arc<DatasetFile>,
    taken: u64,
    bar: ProgressBar,
}

impl PackedGames {
    /// The blocks of `file`; `bar` shows the bytes read.
    pub fn new(file: Arc<DatasetFile>, bar: &ProgressBar) -> Self {
        Self { file, taken: 0, bar: bar.clone() }
    }
}

impl Games for PackedGames {
    fn next(&mut self, _skipped: &mut Skipped) -> Result<Option<Game>, ReadError> {
        if self.taken as usize >= self.file.blocks() {
            return Ok(None);
        }
        let (split, families) = self.file.block(self.taken as usize)?;
        self.taken += 1;
        let each = self.file.bytes() as u64 / self.file.blocks() as u64;
        self.bar.set_position(self.taken * each);
        Ok(Some(Game { split, families }))
    }

    fn record(&self) -> u64 {
        self.taken
    }

    fn skip_to(&mut self, record: u64) -> Result<()> {
        self.taken = record;
        Ok(())
    }
}
