//! The games of `tests/data/odd-games`, and how they are read.

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::STARTPOS;
use serde_json::Value;

use crate::root;

/// A file of games.
pub struct OddFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
    expected: Vec<Value>,
}

/// A game as a reader reads it.
#[derive(Debug, Default)]
pub struct Found {
    /// FEN of the first position; castling rights of Chess960 are in Shredder-FEN.
    pub start: String,
    /// The main line in UCI notation, separated by spaces.
    pub moves: String,
    /// The result.
    pub result: Option<String>,
    /// The message on the fault before which the moves end.
    pub fault: Option<String>,
    /// Whether there is only the fault.
    pub is_refused: bool,
}

/// The files with the games that are expected of them.
pub fn odd_files() -> Result<Vec<OddFile>> {
    let folder = root().join("tests/data/odd-games");
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("expected.json"))?)?;
    let files = expected.as_object().context("no files")?.iter();
    files
        .map(|(name, games)| {
            let expected = games.as_array().context("no games")?.clone();
            Ok(OddFile { name: name.clone(), bytes: std::fs::read(folder.join(name))?, expected })
        })
        .collect()
}

impl OddFile {
    /// Fails with a line for each game that is not as expected.
    pub fn check(&self, found: &[Found]) -> Result<()> {
        let mut faults = Vec::new();
        for (number, (expected, found)) in (1..).zip(self.expected.iter().zip(found)) {
            if !found.is(expected) {
                faults.push(format!("game {number}: {found:?} instead of {expected}"));
            }
        }
        let (found, expected) = (found.len(), self.expected.len());
        if found != expected {
            faults.push(format!("{found} games instead of {expected}"));
        }
        ensure!(faults.is_empty(), "{}: {}", self.name, faults.join("\n"));
        Ok(())
    }
}

impl Found {
    fn is(&self, expected: &Value) -> bool {
        let of = |name: &str| expected[name].as_str();
        let is_fault = match (&self.fault, of("fault")) {
            (Some(fault), Some(begin)) => fault.starts_with(begin),
            (fault, begin) => fault.is_none() && begin.is_none(),
        };
        let is_refused = expected["refused"] == true;
        let is_same = self.start == of("start").unwrap_or(STARTPOS)
            && Some(self.moves.as_str()) == of("moves")
            && self.result.as_deref() == of("result");
        is_fault && self.is_refused == is_refused && (is_refused || is_same)
    }
}
