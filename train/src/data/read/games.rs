//! The interface of all readers.

use std::collections::BTreeMap;

use anyhow::{Error, Result};

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

/// A failure to read a game.
#[derive(Debug)]
pub enum ReadError {
    /// A record is illegal or unreadable, but reading can continue after it.
    Record {
        /// Its name: `game 3`, `line 17`.
        name: String,
        /// The fault.
        error: Error,
    },
    /// The file is damaged or cannot be read.
    File(Error),
}

impl ReadError {
    /// The error of the record called `name`.
    pub fn of_record(name: String) -> impl FnOnce(Error) -> Self {
        move |error| Self::Record { name, error }
    }
}

impl From<Error> for ReadError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Record { name, error } => error.context(name),
            ReadError::File(error) => error,
        }
    }
}

/// A stream of labelled games.
pub trait Games: Send {
    /// The next game that has labels; `None` at the end.
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Game>, ReadError>;

    /// Number of records read so far (games, lines, positions or blocks), including those without
    /// labels.
    fn record(&self) -> u64;

    /// Skips the first `record` records of the file.
    fn skip_to(&mut self, record: u64) -> Result<()>;
}
