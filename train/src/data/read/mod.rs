//! Readers of common formats, each of which is a stream of labelled games, and their common parts:
//! counts of omissions, lines of text, panics of libraries.

mod bag;
mod binpack;
mod bullet;
pub mod input;
mod lichess;
mod pgn;
pub mod position_lines;
mod viriformat;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_chess::pgn::decode;

use crate::data::family::Game;

/// A stream of labelled games.
pub trait Games: Send {
    /// The next game that has labels; `None` at the end. The inner error is that of a record that is
    /// illegal or unreadable, with its name, such as `game 3`; reading can continue after it. Fails
    /// if the file is damaged or cannot be read.
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Result<Game>>>;

    /// Number of records (games, lines, positions or blocks) read so far, with or without labels.
    fn record(&self) -> u64;

    /// Skips a record. Returns false at the end.
    fn skip_record(&mut self) -> Result<bool>;

    /// Skips the first `record` records of the file.
    fn skip_to(&mut self, record: u64) -> Result<()> {
        while self.record() < record && self.skip_record()? {}
        Ok(())
    }

    /// The next game, for tests.
    #[cfg(test)]
    fn next_game(&mut self, skipped: &mut Skipped) -> Result<Option<Game>> {
        self.next(skipped)?.transpose()
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
    /// The line, decoded.
    text: String,
    number: u64,
}

impl Lines {
    pub fn new(input: Box<dyn BufRead + Send>) -> Self {
        Self { input, line: Vec::new(), text: String::new(), number: 0 }
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without surrounding whitespace; `None` at the end.
    pub fn next(&mut self) -> Result<Option<&str>> {
        self.line.clear();
        let number = self.number + 1;
        let read = self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.line);
        if read.with_context(|| format!("line {number}"))? == 0 {
            return Ok(None);
        }
        self.number = number;
        let fits = (self.line.len() as u64) < LONGEST_LINE;
        ensure!(fits, "line {number}: longer than {LONGEST_LINE} bytes");
        self.text.clear();
        self.text.push_str(decode(&self.line).trim());
        let text = self.text.as_str();
        ensure!(
            !text.contains('\r'),
            "line {number}: the lines end in carriage returns alone; convert them to line feeds"
        );
        Ok(Some(text))
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs code of a library that panics on damaged input, and turns a panic into an error, without
/// printing anything. After a panic, the caller must not use values that `read` modified.
pub fn catch_panic<T>(read: impl FnOnce() -> T) -> Result<T> {
    HOOK.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                loud(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    QUIET.set(false);
    result.map_err(|_| anyhow!("damaged: its content makes no sense"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &'static [u8]) -> Lines {
        Lines::new(Box::new(bytes))
    }

    #[test]
    fn lines_are_text() -> Result<()> {
        let mut two = lines(b"one\r\ntwo");
        assert_eq!(two.next()?, Some("one"));
        assert_eq!(two.next()?, Some("two"));
        assert_eq!(two.next()?, None);
        assert_eq!(two.number(), 2);
        assert_eq!(lines(b"M\xfcller\n").next()?, Some("Müller"));
        let error = lines(b"one\rtwo\r").next().expect_err("one line").to_string();
        assert!(error.contains("carriage returns"), "{error}");
        let mut mixed = lines(b"one\r\n\x1atwo\x1a\r\nthree\rfour\r\n");
        assert_eq!(mixed.next()?, Some("one"));
        assert_eq!(mixed.next()?, Some("two"));
        let error = mixed.next().expect_err("two lines").to_string();
        assert!(error.starts_with("line 3: the lines end in carriage returns"), "{error}");
        Ok(())
    }
}
