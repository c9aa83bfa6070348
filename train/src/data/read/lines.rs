//! Lines of text from an untrusted stream.

use std::io::{BufRead, Read};

use anyhow::{Context, Result, ensure};

/// Maximum length of a line in bytes; it protects memory against input without line breaks.
const LONGEST: u64 = 1 << 20;

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
        let read = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.line);
        if read.with_context(|| format!("line {number}"))? == 0 {
            self.number -= 1;
            return Ok(None);
        }
        ensure!((self.line.len() as u64) < LONGEST, "line {number}: longer than {LONGEST} bytes");
        let text = std::str::from_utf8(&self.line)
            .map_err(|_| anyhow::anyhow!("line {number}: not UTF-8"))?;
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
