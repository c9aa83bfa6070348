//! Formats with one position a line: EPD, CSV, and lichess's evaluation database.

use anyhow::Result;

use super::games::{Games, ReadError, Skipped, skip};
use super::lines::Lines;
use crate::data::family::{Family, Game};

/// The content of a line.
pub enum ParsedLine {
    /// Labelled positions of the same game.
    Families(Vec<Family>),
    /// No label, for this reason, which [`skip`] counts.
    Skipped(&'static str),
}

/// A format with one position a line.
pub trait LineFormat: Send {
    /// The families of a line that is not empty. Fails if the line is malformed.
    fn read(&mut self, line: &str) -> Result<ParsedLine>;
}

/// The labelled positions of a file in a [`LineFormat`].
pub struct PositionLines<F> {
    lines: Lines,
    format: F,
    /// Number of header lines.
    headings: u64,
}

impl<F: LineFormat> PositionLines<F> {
    /// Reads positions from the remaining `lines`. The lines already read are headers.
    pub fn new(lines: Lines, format: F) -> Self {
        let headings = lines.number();
        Self { lines, format, headings }
    }
}

impl<F: LineFormat> Games for PositionLines<F> {
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Game>, ReadError> {
        loop {
            let number = self.lines.number() + 1;
            let Some(line) = self.lines.next()? else { return Ok(None) };
            if line.is_empty() {
                continue;
            }
            match self.format.read(line).map_err(ReadError::of_record(format!("line {number}")))? {
                ParsedLine::Families(families) => return Ok(Some(Game::new(families))),
                ParsedLine::Skipped(reason) => skip(skipped, reason),
            }
        }
    }

    fn record(&self) -> u64 {
        self.lines.number() - self.headings
    }

    fn skip_to(&mut self, record: u64) -> Result<()> {
        self.lines.skip_to(record + self.headings)
    }
}
