//! What a dataset file says of itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::split::Split;

/// Where labels come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Its name without the folder.
    pub name: String,
    /// The format, or how it was made.
    pub made_by: Value,
    /// SHA-256 of its bytes; of labels made by an engine, of the positions started from.
    pub sha256: String,
    /// The first of its records here (games, lines, parts of a labelling).
    pub first: u64,
    /// One after the last.
    pub end: u64,
    /// Labelled positions found.
    pub labels: u64,
    /// Positions or records left out, by the reason.
    pub skipped: BTreeMap<String, u64>,
}

impl Source {
    /// Takes in what follows it of the same source. False where `next` is something else.
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

/// The description at the end of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The trainer and its version.
    pub trainer: String,
    /// Positions left out because they, or positions that differ in their move counters alone, were there before.
    pub duplicates: u64,
    /// Positions left out by filters.
    pub filtered: u64,
    /// Labelled positions for training, calibration and metrics.
    pub positions: [u64; Split::NUM],
    /// The families that they are in.
    pub families: [u64; Split::NUM],
    /// Where they come from, in order.
    pub sources: Vec<Source>,
}

impl Description {
    /// Of an empty dataset.
    pub fn new() -> Self {
        Self {
            trainer: concat!("azimuth-train ", env!("CARGO_PKG_VERSION")).to_owned(),
            duplicates: 0,
            filtered: 0,
            positions: [0; Split::NUM],
            families: [0; Split::NUM],
            sources: Vec::new(),
        }
    }
}
