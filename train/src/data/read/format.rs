//! The supported input formats.

use std::path::Path;

use anyhow::{Context, Result};
use azimuth_chess::pgn::is_compressed;
use clap::ValueEnum;
use serde::Serialize;

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
                 .binpack, .bullet, .viri; but for .azd, .bag, .bagz and .binpack also with .zst); give --format",
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
