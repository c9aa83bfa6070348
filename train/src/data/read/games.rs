//! What a reader of any format does.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Result;

use crate::data::family::Game;

/// How many positions or records were left out, by the reason.
pub type Skipped = BTreeMap<String, u64>;

/// Counts one more that was left out.
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

    /// Records taken so far, those without labels among them: games, lines, positions, blocks.
    fn record(&self) -> u64;

    /// Goes on after the first `record` records, from the beginning.
    fn skip_to(&mut self, record: u64) -> Result<()>;
}
