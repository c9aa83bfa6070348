//! The engine's options: names, ranges, defaults, and what they are set to.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};

use super::command::quoted;
use crate::search::{BeamMode, BeamSettings};

/// What stands for the weights inside the program.
const EMBEDDED: &str = "<embedded>";

const HASH_MB: std::ops::RangeInclusive<u64> = 1..=4_096;
const OVERHEAD_MS: std::ops::RangeInclusive<u64> = 0..=5_000;
const WIDTH: std::ops::RangeInclusive<u64> = 1..=64;
const DEPTH: std::ops::RangeInclusive<u64> = 1..=64;

/// The options as they stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Size of the score cache in megabytes.
    pub hash_mb: usize,
    /// Time kept back each move for the way to the GUI and back.
    pub move_overhead: Duration,
    /// The weights file; the embedded weights where `None`.
    pub weights: Option<PathBuf>,
    /// Shape of the beam.
    pub beam: BeamSettings,
    /// Castling as king takes rook.
    pub chess960: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hash_mb: 16,
            move_overhead: Duration::from_millis(30),
            weights: None,
            beam: BeamSettings::default(),
            chess960: false,
        }
    }
}

impl Options {
    /// The `option` lines that answer `uci`.
    pub fn describe() -> Vec<String> {
        let default = Self::default();
        let spin = |name: &str, value: u64, range: std::ops::RangeInclusive<u64>| {
            let (min, max) = (range.start(), range.end());
            format!("option name {name} type spin default {value} min {min} max {max}")
        };
        vec![
            spin("Hash", default.hash_mb as u64, HASH_MB),
            spin("Threads", 1, 1..=1),
            spin("Move Overhead", default.move_overhead.as_millis() as u64, OVERHEAD_MS),
            "option name Ponder type check default false".to_owned(),
            "option name UCI_Chess960 type check default false".to_owned(),
            format!("option name WeightsFile type string default {EMBEDDED}"),
            spin("BeamWidth", default.beam.width as u64, WIDTH),
            spin("SearchDepth", default.beam.depth.into(), DEPTH),
            "option name BeamMode type combo default tree var tree var global".to_owned(),
        ]
    }

    /// Sets one option; names are read without regard to case. On an error all stay as they were.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let value = value.unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "hash" => self.hash_mb = spin(name, value, HASH_MB)? as usize,
            "threads" => drop(spin(name, value, 1..=1)?),
            "move overhead" => {
                self.move_overhead = Duration::from_millis(spin(name, value, OVERHEAD_MS)?);
            }
            // Pondering is the GUI's to begin; the option only tells it that we can.
            "ponder" => drop(check(name, value)?),
            "uci_chess960" => self.chess960 = check(name, value)?,
            "weightsfile" => {
                let embedded = value.is_empty() || value.eq_ignore_ascii_case(EMBEDDED);
                self.weights = (!embedded).then(|| PathBuf::from(value));
            }
            "beamwidth" => self.beam.width = spin(name, value, WIDTH)? as usize,
            "searchdepth" => self.beam.depth = spin(name, value, DEPTH)? as u32,
            "beammode" => {
                let unknown =
                    || anyhow!("option {name}: expected tree or global, found '{}'", quoted(value));
                self.beam.mode =
                    BeamMode::named(&value.to_ascii_lowercase()).ok_or_else(unknown)?;
            }
            _ => bail!("unknown option '{}'", quoted(name)),
        }
        Ok(())
    }
}

fn spin(name: &str, value: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64> {
    let (min, max) = (range.start(), range.end());
    let expected = || anyhow!("option {name}: expected {min} to {max}, found '{}'", quoted(value));
    let number: u64 = value.parse().map_err(|_| expected())?;
    ensure!(range.contains(&number), expected());
    Ok(number)
}

fn check(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => bail!("option {name}: expected true or false, found '{}'", quoted(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ignore_case_and_ranges_hold() -> Result<()> {
        let mut options = Options::default();
        options.set("move OVERHEAD", Some("100"))?;
        options.set("BeamMode", Some("Global"))?;
        options.set("weightsfile", Some("/a path/w.safetensors"))?;
        assert_eq!(options.move_overhead, Duration::from_millis(100));
        assert_eq!(options.beam.mode, BeamMode::Global);
        let before = options.clone();
        for (name, value, part) in [
            ("Hash", "0", "expected 1 to 4096, found '0'"),
            ("Hash", "x", "found 'x'"),
            ("UCI_Chess960", "maybe", "expected true or false"),
            ("Contempt", "1", "unknown option 'Contempt'"),
        ] {
            let error = options.set(name, Some(value)).expect_err(name).to_string();
            assert!(error.contains(part), "{error}");
            assert_eq!(options, before);
        }
        options.set("WeightsFile", Some(EMBEDDED))?;
        assert_eq!(options.weights, None);
        Ok(())
    }
}
