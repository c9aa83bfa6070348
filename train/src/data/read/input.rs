//! An input file: its format, its hash and its games.

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::{decompressed, is_compressed};
use azimuth_network::hex::hex;
use indicatif::ProgressBar;
use sha2::{Digest, Sha256};

use super::bag::Bag;
use super::binpack::Binpack;
use super::bullet::Bullet;
use super::csv::{Csv, View};
use super::epd::Epd;
use super::format::Format;
use super::games::Games;
use super::lichess::Lichess;
use super::lines::Lines;
use super::packed_games::PackedGames;
use super::pgn::Pgn;
use super::position_lines::PositionLines;
use super::viriformat::Viriformat;
use crate::data::file::dataset_file::DatasetFile;

/// A file of labelled positions.
#[derive(Clone)]
pub struct Input {
    /// Its path.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// The point of view of the labels in a CSV file.
    pub view: View,
    /// The opened dataset, if the file is one.
    pub dataset: Option<Arc<DatasetFile>>,
}

impl Input {
    /// A file in `format`, by default the format implied by its name.
    pub fn new(path: &Path, format: Option<Format>, view: View) -> Result<Self> {
        let format = format.map_or_else(|| Format::of(path), Ok)?;
        let name = || format!("data file '{}'", path.display());
        let metadata = std::fs::metadata(path).with_context(name)?;
        ensure!(metadata.is_file(), "{}: not a regular file", name());
        let dataset = match format {
            Format::Dataset => Some(Arc::new(DatasetFile::open(path)?)),
            Format::Bag | Format::Bagz | Format::Binpack => {
                ensure!(
                    !is_compressed(path),
                    "{}: decompress it first; it is read at any place",
                    name()
                );
                None
            }
            _ => None,
        };
        Ok(Self { path: path.to_owned(), format, view, dataset })
    }

    /// Its file name without the folder.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> Result<u64> {
        Ok(std::fs::metadata(&self.path)?.len())
    }

    /// SHA-256 of its bytes; `bar` shows the bytes read.
    pub fn sha256(&self, bar: &ProgressBar) -> Result<String> {
        if let Some(dataset) = &self.dataset {
            return Ok(dataset.sha256());
        }
        let name = || format!("data file '{}'", self.path.display());
        let mut file = bar.wrap_read(File::open(&self.path).with_context(name)?);
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
        loop {
            match file.read(&mut buffer).with_context(name)? {
                0 => break,
                length => hash.update(&buffer[..length]),
            }
        }
        Ok(hex(&hash.finalize()))
    }

    /// Its games; `bar` shows the bytes read.
    pub fn games(&self, bar: &ProgressBar) -> Result<Box<dyn Games>> {
        self.open(bar).with_context(|| format!("data file '{}'", self.path.display()))
    }

    fn open(&self, bar: &ProgressBar) -> Result<Box<dyn Games>> {
        let stream = || self.stream(bar);
        Ok(match self.format {
            Format::Dataset => {
                let opened = self.dataset.clone();
                let dataset =
                    opened.map_or_else(|| DatasetFile::open(&self.path).map(Arc::new), Ok)?;
                Box::new(PackedGames::new(dataset, bar))
            }
            Format::Pgn => Box::new(Pgn::new(stream()?)),
            Format::Bag | Format::Bagz => {
                Box::new(Bag::open(&self.path, self.format == Format::Bagz, bar)?)
            }
            Format::Binpack => Box::new(Binpack::open(&self.path, bar)?),
            Format::Bullet => Box::new(Bullet::new(stream()?)),
            Format::Viriformat => Box::new(Viriformat::new(stream()?)),
            Format::Epd => Box::new(PositionLines::new(Lines::new(stream()?), Epd)),
            Format::Lichess => Box::new(PositionLines::new(Lines::new(stream()?), Lichess)),
            Format::Csv => {
                let mut lines = Lines::new(stream()?);
                let csv = Csv::new(&mut lines, self.view)?;
                Box::new(PositionLines::new(lines, csv))
            }
        })
    }

    fn stream(&self, bar: &ProgressBar) -> Result<Box<dyn BufRead + Send>> {
        let file = bar.wrap_read(File::open(&self.path)?);
        Ok(decompressed(&self.path, file)?)
    }
}
