//! The description stored in a dataset file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::split::Split;

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
    /// Number of labelled positions found.
    pub labels: u64,
    /// Numbers of positions or records left out, by reason.
    pub skipped: BTreeMap<String, u64>,
}

impl Source {
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

/// The description at the end of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The trainer and its version.
    pub trainer: String,
    /// Number of positions left out as duplicates, ignoring the move counters.
    pub duplicates: u64,
    /// Number of positions left out by filters.
    pub filtered: u64,
    /// Numbers of labelled positions for training, calibration and metrics.
    pub positions: [u64; Split::NUM],
    /// Numbers of families in each split.
    pub families: [u64; Split::NUM],
    /// The sources, in order.
    pub sources: Vec<Source>,
}

impl Description {
    /// The description of an empty dataset.
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
