//! What the readers of all formats share: the stream of games, its errors, and the reading of lines
//! and records.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};

use crate::data::family::Game;

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

/// Maximum length of a line in bytes; it protects memory against input without line breaks.
const LONGEST_LINE: u64 = 1 << 20;

/// Lines, numbered from 1.
pub struct Lines {
    input: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// The lines of `input`.
    pub fn new(input: Box<dyn BufRead + Send>) -> Self {
        Self { input, line: Vec::new(), number: 0 }
    }

    /// Number of lines read so far.
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

/// Fills `record`. Returns false at the end of the stream; fails if the stream ends within the
/// record.
pub fn read_exact_or_end(input: &mut (impl BufRead + ?Sized), record: &mut [u8]) -> Result<bool> {
    if input.fill_buf()?.is_empty() {
        return Ok(false);
    }
    match input.read_exact(record) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            bail!("the file ends within it")
        }
        read => read.map(|()| true).map_err(Into::into),
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
