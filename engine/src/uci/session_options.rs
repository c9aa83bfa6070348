//! The UCI options that do not depend on the program behind the protocol.

use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::option_values::{EMPTY, check, check_line, path, spin, spin_line, text_line};

const OVERHEAD_MS: RangeInclusive<u64> = 0..=5_000;
const MULTIPV: RangeInclusive<u64> = 1..=256;
const NODES_PER_MS: RangeInclusive<u64> = 0..=10_000;

/// The current values of the options.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionOptions {
    /// Time reserved at each move for communication with the GUI.
    pub move_overhead: Duration,
    /// Number of lines to report.
    pub multipv: usize,
    /// Report win, draw and loss chances in `info` lines.
    pub show_wdl: bool,
    /// The GUI analyses and does not play.
    pub analyse_mode: bool,
    /// Write castling as king takes rook.
    pub chess960: bool,
    /// Nodes per millisecond if time is counted in nodes.
    pub nodes_per_ms: Option<NonZeroU64>,
    /// The opponent, as the GUI names it.
    pub opponent: Option<String>,
    /// Log file for all lines.
    pub log_file: Option<PathBuf>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            move_overhead: Duration::from_millis(30),
            multipv: 1,
            show_wdl: false,
            analyse_mode: false,
            chess960: false,
            nodes_per_ms: None,
            opponent: None,
            log_file: None,
        }
    }
}

impl SessionOptions {
    /// The `option` lines that answer `uci`.
    pub fn describe() -> Vec<String> {
        let default = Self::default();
        vec![
            spin_line("MultiPV", default.multipv as u64, &MULTIPV),
            check_line("Ponder", false),
            spin_line("Move Overhead", default.move_overhead.as_millis() as u64, &OVERHEAD_MS),
            check_line("UCI_ShowWDL", default.show_wdl),
            check_line("UCI_AnalyseMode", default.analyse_mode),
            check_line("UCI_Chess960", default.chess960),
            spin_line("nodestime", 0, &NODES_PER_MS),
            text_line("UCI_Opponent", EMPTY),
            text_line("Debug Log File", EMPTY),
        ]
    }

    /// Sets one option; returns whether the name is known. Names are case-insensitive. Changes
    /// nothing on an error.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<bool> {
        let value = value.unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "multipv" => self.multipv = spin(name, value, MULTIPV)? as usize,
            // The GUI decides when to ponder; the option only says that the engine supports it.
            "ponder" => drop(check(name, value)?),
            "move overhead" => {
                self.move_overhead = Duration::from_millis(spin(name, value, OVERHEAD_MS)?);
            }
            "uci_showwdl" => self.show_wdl = check(name, value)?,
            "uci_analysemode" => self.analyse_mode = check(name, value)?,
            "uci_chess960" => self.chess960 = check(name, value)?,
            "nodestime" => self.nodes_per_ms = NonZeroU64::new(spin(name, value, NODES_PER_MS)?),
            "uci_opponent" => self.opponent = path(value, EMPTY).map(str::to_owned),
            // Some GUIs set every option that they were sent.
            "uci_engineabout" => {}
            "debug log file" | "logfile" => self.log_file = path(value, EMPTY).map(PathBuf::from),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ignore_case_and_errors_change_nothing() -> Result<()> {
        let mut options = SessionOptions::default();
        assert!(options.set("move OVERHEAD", Some("100"))?);
        assert_eq!(options.move_overhead, Duration::from_millis(100));
        let before = options.clone();
        let error = options.set("UCI_Chess960", Some("maybe")).expect_err("maybe").to_string();
        assert!(error.contains("expected true or false, found 'maybe'"), "{error}");
        assert!(!options.set("Contempt", Some("1"))?);
        assert!(options.set("UCI_EngineAbout", Some("Azimuth"))?);
        assert_eq!(options, before);
        Ok(())
    }

    #[test]
    fn what_stockfish_calls_the_log_file_is_the_log_file() -> Result<()> {
        for name in ["Debug Log File", "LogFile"] {
            let mut options = SessionOptions::default();
            assert!(options.set(name, Some("a log.txt"))?);
            assert_eq!(options.log_file, Some(PathBuf::from("a log.txt")));
        }
        Ok(())
    }

    #[test]
    fn every_default_that_is_told_can_be_set() -> Result<()> {
        for line in SessionOptions::describe() {
            let words =
                line.strip_prefix("option name ").and_then(|line| line.split_once(" type "));
            let (name, rest) = words.expect("name and type");
            let (_, rest) = rest.split_once(" default ").expect("a default");
            let mut options = SessionOptions::default();
            assert!(options.set(name, rest.split(" min ").next())?);
            assert_eq!(options, SessionOptions::default(), "{line}");
        }
        Ok(())
    }
}
