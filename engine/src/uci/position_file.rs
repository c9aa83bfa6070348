//! Files with one position a line, FEN or EPD: those of `bench`, the books of `genfens`.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::Position;
use azimuth_chess::text::shortened;

/// Maximum length of a path in an error, in characters.
const LONGEST_PATH: usize = 200;

/// The text of a file of positions.
pub struct PositionFile {
    /// The command and the path, for errors.
    name: String,
    text: String,
}

/// A line with a position.
#[derive(Clone, Copy)]
pub struct PositionLine<'a> {
    name: &'a str,
    number: usize,
    text: &'a str,
}

impl PositionFile {
    /// Reads a file for a command, which errors name. Fails if it is no regular file or no text.
    pub fn read(command: &str, path: &Path) -> Result<Self> {
        let name = format!("{command}: '{}'", shortened(&path.display().to_string(), LONGEST_PATH));
        let metadata = std::fs::metadata(path).with_context(|| name.clone())?;
        // Reading a pipe or a device could block for ever.
        ensure!(metadata.is_file(), "{name}: not a regular file");
        let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
        Ok(Self { name, text })
    }

    /// The lines with positions: empty lines and comments (`#`) are left out. Fails if there are
    /// none.
    pub fn lines(&self) -> Result<Vec<PositionLine<'_>>> {
        let lines = (1..).zip(self.text.lines().map(str::trim));
        let positions = lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
        let found: Vec<_> = positions
            .map(|(number, text)| PositionLine { name: &self.name, number, text })
            .collect();
        ensure!(!found.is_empty(), "{}: there is no position in it", self.name);
        Ok(found)
    }
}

impl PositionLine<'_> {
    /// The position. Operations of EPD are ignored.
    pub fn position(&self) -> Result<Position> {
        let fields: Vec<&str> = self.text.split_whitespace().collect();
        let is_counter = |field: &&&str| field.bytes().all(|byte| byte.is_ascii_digit());
        let counters = fields.iter().skip(4).take(2).take_while(is_counter).count();
        let fen = fields[..fields.len().min(4 + counters)].join(" ");
        Position::from_fen(&fen).with_context(|| format!("{}, line {}", self.name, self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_fen_or_an_epd_record() -> Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        let text = "# a comment\n\n4k3/8/8/8/8/8/8/4K2R w K - 3 9\n\
                    4k3/8/8/8/8/8/8/4K2R w K - bm O-O; id \"1\";\n";
        std::fs::write(file.path(), text)?;
        let positions = PositionFile::read("bench", file.path())?;
        let fens: Result<Vec<String>> =
            positions.lines()?.iter().map(|line| Ok(line.position()?.fen(false))).collect();
        assert_eq!(fens?, ["4k3/8/8/8/8/8/8/4K2R w K - 3 9", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]);
        Ok(())
    }

    #[test]
    fn an_error_names_command_file_and_line() -> Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(file.path(), "# nothing\n")?;
        let error = PositionFile::read("bench", file.path())?.lines().err().context("no error")?;
        assert!(error.to_string().ends_with("': there is no position in it"), "{error}");
        std::fs::write(file.path(), "\n4k3/8/8/8 w - -\n")?;
        let positions = PositionFile::read("bench", file.path())?;
        let error = positions.lines()?[0].position().expect_err("a bad board");
        let error = format!("{error:#}");
        assert!(error.starts_with("bench: '") && error.contains("', line 2: FEN"), "{error}");
        let error = PositionFile::read("bench", &std::env::temp_dir()).err().context("no error")?;
        assert!(error.to_string().ends_with("': not a regular file"), "{error}");
        Ok(())
    }
}
