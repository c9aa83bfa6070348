//! The common parts of all readers: the stream of games, its errors, and the reading of lines.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use anyhow::{Context, Error, Result, anyhow, ensure};

use crate::data::family::Game;

/// A stream of labelled games.
pub trait Games: Send {
    /// The next game that has labels; `None` at the end.
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Game>, ReadError>;

    /// Number of records (games, lines, positions or blocks) read so far, with or without labels.
    fn record(&self) -> u64;

    /// Skips the first `record` records of the file.
    fn skip_to(&mut self, record: u64) -> Result<()>;
}

#[derive(Debug)]
pub enum ReadError {
    /// A record is illegal or unreadable, but reading can continue after it.
    Record {
        /// Its name: `game 3`, `line 17`.
        name: String,
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

/// Numbers of positions or records left out, by reason.
pub type Skipped = BTreeMap<String, u64>;

pub fn skip(skipped: &mut Skipped, reason: &str) {
    *skipped.entry(reason.to_owned()).or_default() += 1;
}

/// Maximum length of a line in bytes; it protects memory against input without line breaks.
const LONGEST_LINE: u64 = 1 << 20;

/// Lines, numbered from 1.
pub struct Lines {
    input: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    pub fn new(input: Box<dyn BufRead + Send>) -> Self {
        Self { input, line: Vec::new(), number: 0 }
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without surrounding whitespace; `None` at the end.
    pub fn next(&mut self) -> Result<Option<&str>> {
        self.line.clear();
        self.number += 1;
        let number = self.number;
        let read = self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.line);
        if read.with_context(|| format!("line {number}"))? == 0 {
            self.number -= 1;
            return Ok(None);
        }
        ensure!(
            (self.line.len() as u64) < LONGEST_LINE,
            "line {number}: longer than {LONGEST_LINE} bytes"
        );
        let text =
            std::str::from_utf8(&self.line).map_err(|_| anyhow!("line {number}: not UTF-8"))?;
        Ok(Some(text.trim()))
    }

    /// Skips to the line after the first `number` lines.
    pub fn skip_to(&mut self, number: u64) -> Result<()> {
        while self.number < number && self.next()?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &'static [u8]) -> Lines {
        Lines::new(Box::new(bytes))
    }

    #[test]
    fn lines_are_bounded_and_text() -> Result<()> {
        let mut two = lines(b"one\r\ntwo");
        assert_eq!(two.next()?, Some("one"));
        assert_eq!(two.next()?, Some("two"));
        assert_eq!(two.next()?, None);
        assert_eq!(two.number(), 2);
        let error = lines(b"\xff\xfe\n").next().expect_err("not text").to_string();
        assert_eq!(error, "line 1: not UTF-8");
        let endless = Box::new(std::io::BufReader::new(std::io::repeat(b'x')));
        let error = Lines::new(endless).next().expect_err("too long").to_string();
        assert!(error.contains("longer than"), "{error}");
        Ok(())
    }
}
