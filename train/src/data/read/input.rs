//! An input file: its format, its hash and its games. The games of a dataset are its blocks.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::{decompressed, is_compressed, unpacked};
use azimuth_network::checksum::hex;
use clap::ValueEnum;
use indicatif::ProgressBar;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::bag::Bag;
use super::binpack::Binpack;
use super::bullet::Bullet;
use super::lichess::Lichess;
use super::pgn::Pgn;
use super::position_lines::{Csv, Epd, PositionLines, View};
use super::viriformat::Viriformat;
use super::{Games, Lines, Skipped};
use crate::data::family::Game;
use crate::data::file::DatasetFile;

#[derive(Clone)]
pub struct Input {
    pub path: PathBuf,
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
        let is_stream = !matches!(format, Format::Bag | Format::Bagz | Format::Binpack);
        let is_readable = is_stream || !is_compressed(path);
        ensure!(is_readable, "{}: decompress it first; it is read at any place", name());
        let dataset = (format == Format::Dataset).then(|| DatasetFile::open(path)).transpose()?;
        Ok(Self { path: path.to_owned(), format, view, dataset: dataset.map(Arc::new) })
    }

    /// Its file name without the folder.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
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

    pub fn games(&self, bar: &ProgressBar) -> Result<Box<dyn Games>> {
        let file = || File::open(&self.path).map(|file| bar.wrap_read(file));
        let stream = || decompressed(&self.path, file()?);
        // No byte order mark is looked for in a binary format.
        let binary = || -> std::io::Result<Box<dyn BufRead + Send>> {
            Ok(Box::new(BufReader::with_capacity(1 << 18, unpacked(&self.path, file()?)?)))
        };
        Ok(match self.format {
            Format::Dataset => {
                let dataset = self.dataset.clone().context("it was not opened")?;
                Box::new(PackedGames { file: dataset, taken: 0, bar: bar.clone() })
            }
            Format::Pgn => Box::new(Pgn::new(stream()?)),
            Format::Bag | Format::Bagz => {
                Box::new(Bag::open(&self.path, self.format == Format::Bagz, bar)?)
            }
            Format::Binpack => Box::new(Binpack::open(&self.path, bar)?),
            Format::Bullet => Box::new(Bullet::new(binary()?)),
            Format::Viriformat => Box::new(Viriformat::new(binary()?)),
            Format::Epd => Box::new(PositionLines::new(Lines::new(stream()?), Epd)),
            Format::Lichess => Box::new(PositionLines::new(Lines::new(stream()?), Lichess)),
            Format::Csv => {
                let mut lines = Lines::new(stream()?);
                let csv = Csv::new(&mut lines, self.view)?;
                Box::new(PositionLines::new(lines, csv))
            }
        })
    }
}

/// A format of labelled positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A dataset of azimuth-train (.azd).
    Dataset,
    /// Games with `[%eval]` comments (.pgn).
    Pgn,
    /// lichess's evaluation database (.jsonl).
    Lichess,
    /// Positions with the operation `ce` or `dm` (.epd).
    Epd,
    /// Columns with headings: `fen` and `cp` or `p` (.csv).
    Csv,
    /// ChessBench's state values (.bag).
    Bag,
    /// ChessBench's state values with each record compressed (.bagz).
    Bagz,
    /// Stockfish's training data (.binpack).
    Binpack,
    /// bullet's training data (.bullet).
    Bullet,
    /// Viridithas's training data (.viri, .vf).
    Viriformat,
}

impl Format {
    /// The format implied by a file's name.
    pub fn of(path: &Path) -> Result<Self> {
        let known = ending(path).and_then(|ending| match ending.as_str() {
            "azd" => Some(Self::Dataset),
            "pgn" => Some(Self::Pgn),
            "jsonl" => Some(Self::Lichess),
            "epd" => Some(Self::Epd),
            "csv" => Some(Self::Csv),
            "bag" => Some(Self::Bag),
            "bagz" => Some(Self::Bagz),
            "binpack" => Some(Self::Binpack),
            "bullet" => Some(Self::Bullet),
            "viri" | "vf" => Some(Self::Viriformat),
            _ => None,
        });
        known.with_context(|| {
            format!(
                "'{}': the format does not follow from the name (.azd, .pgn, .jsonl, .epd, .csv, .bag, .bagz, \
                 .binpack, .bullet, .viri; but for .azd, .bag, .bagz and .binpack also compressed); give --format",
                path.display()
            )
        })
    }
}

/// The extension of a name in lower case, ignoring `.zst`.
pub fn ending(path: &Path) -> Option<String> {
    let plain = if is_compressed(path) { path.with_extension("") } else { path.to_owned() };
    plain.extension().map(|extension| extension.to_string_lossy().to_lowercase())
}

/// The blocks of a dataset file. Each block is treated as one game and keeps its split.
struct PackedGames {
    file: Arc<DatasetFile>,
    taken: u64,
    bar: ProgressBar,
}

impl Games for PackedGames {
    fn next(&mut self, _skipped: &mut Skipped) -> Result<Option<Result<Game>>> {
        if self.taken as usize >= self.file.blocks() {
            return Ok(None);
        }
        let (split, families) = self.file.block(self.taken as usize)?;
        self.taken += 1;
        let each = self.file.bytes() as u64 / self.file.blocks() as u64;
        self.bar.set_position(self.taken * each);
        Ok(Some(Ok(Game { split, families })))
    }

    fn record(&self) -> u64 {
        self.taken
    }

    fn skip_record(&mut self) -> Result<bool> {
        self.taken += 1;
        Ok(true)
    }
}
