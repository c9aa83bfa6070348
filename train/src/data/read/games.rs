//! The interface of all readers.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Result;

use crate::data::family::Game;

/// Numbers of positions or records left out, by reason.
pub type Skipped = BTreeMap<String, u64>;

/// Counts a position or record that was left out.
pub fn skip(skipped: &mut Skipped, reason: &str) {
    match skipped.get_mut(reason) {
        Some(count) => *count += 1,
        None => {
            skipped.insert(reason.to_owned(), 1);
        }
    }
}

/// The place of a record that is not legal, or cannot be read, in a file in which those after it can.
#[derive(Clone, Debug)]
pub struct BadRecord(pub String);

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A stream of labelled games.
pub trait Games: Send {
    /// The next game that has labels; `None` at the end. Fails where the file is damaged; with [`BadRecord`] where no
    /// more than a record is, after which it can go on.
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Game>>;

    /// Number of records read so far (games, lines, positions or blocks), including those without
    /// labels.
    fn record(&self) -> u64;

    /// Skips the first `record` records of the file.
    fn skip_to(&mut self, record: u64) -> Result<()>;
}
