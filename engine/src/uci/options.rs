//! The engine's options: names, ranges, defaults, and what they are set to.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use clap::ValueEnum;

use super::command::quoted;
use super::limited_strength::WEAKEST_TO_STRONGEST;
use crate::inference::{Backend, Precision};
use crate::search::{BeamMode, PlannerKind, PlannerSettings, Resources};

/// What stands for the weights inside the program.
const EMBEDDED: &str = "<embedded>";

/// What stands for no path at all.
const EMPTY: &str = "<empty>";

/// What leaves the choice to the engine.
const AUTO: &str = "auto";

const HASH_MB: RangeInclusive<u64> = 1..=65_536;
const THREADS: RangeInclusive<u64> = 1..=256;
const OVERHEAD_MS: RangeInclusive<u64> = 0..=5_000;
const WIDTH: RangeInclusive<u64> = 1..=64;
const DEPTH: RangeInclusive<u64> = 1..=64;
const MULTIPV: RangeInclusive<u64> = 1..=256;

/// The options as they stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What the planner may use.
    pub resources: Resources,
    /// Time kept back each move for the way to the GUI and back.
    pub move_overhead: Duration,
    /// The encoder.
    pub model: Model,
    /// Which planner; by the kind of search where `None`.
    pub planner: Option<PlannerKind>,
    /// Settings of the planners.
    pub planners: PlannerSettings,
    /// Lines to report.
    pub multipv: usize,
    /// Win, draw and loss chances in `info`.
    pub show_wdl: bool,
    /// The GUI analyses, it does not play.
    pub analyse_mode: bool,
    /// Castling as king takes rook.
    pub chess960: bool,
    /// Play no better than [`Self::elo`].
    pub limit_strength: bool,
    /// Elo on the scale of Stockfish 16's `UCI_Elo`.
    pub elo: u32,
    /// Folders of Syzygy tables, separated as in `PATH`.
    pub syzygy_path: Option<String>,
    /// Where all lines are written.
    pub log_file: Option<PathBuf>,
}

/// What has to be loaded anew where it changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The weights file; the embedded weights where `None`.
    pub weights: Option<PathBuf>,
    /// Where the encoder runs.
    pub backend: Backend,
    /// In which precision.
    pub precision: Precision,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            resources: Resources { hash_mb: 16, threads: 1 },
            move_overhead: Duration::from_millis(30),
            model: Model::default(),
            planner: None,
            planners: PlannerSettings::default(),
            multipv: 1,
            show_wdl: false,
            analyse_mode: false,
            chess960: false,
            limit_strength: false,
            elo: *WEAKEST_TO_STRONGEST.end(),
            syzygy_path: None,
            log_file: None,
        }
    }
}

impl Options {
    /// Whether to play worse on purpose. An analysis never is.
    pub fn limits_strength(&self) -> bool {
        self.limit_strength && !self.analyse_mode
    }

    /// The `option` lines that answer `uci`.
    pub fn describe() -> Vec<String> {
        let default = Self::default();
        let line = |name: &str, rest: String| format!("option name {name} type {rest}");
        let spin = |name: &str, value: u64, range: RangeInclusive<u64>| {
            let (min, max) = (range.start(), range.end());
            line(name, format!("spin default {value} min {min} max {max}"))
        };
        let check = |name: &str, value: bool| line(name, format!("check default {value}"));
        let combo = |name: &str, value: &str, choices: &[String]| {
            let choices: String = choices.iter().map(|choice| format!(" var {choice}")).collect();
            line(name, format!("combo default {value}{choices}"))
        };
        let text = |name: &str, value: &str| line(name, format!("string default {value}"));
        let elo = u64::from(*WEAKEST_TO_STRONGEST.start())..=u64::from(*WEAKEST_TO_STRONGEST.end());
        vec![
            spin("Hash", default.resources.hash_mb as u64, HASH_MB),
            line("Clear Hash", "button".to_owned()),
            spin("Threads", default.resources.threads as u64, THREADS),
            combo("Planner", AUTO, &[&[AUTO.to_owned()][..], &choices::<PlannerKind>()].concat()),
            text("WeightsFile", EMBEDDED),
            combo("Backend", "auto", &choices::<Backend>()),
            combo("Precision", "auto", &choices::<Precision>()),
            spin("BeamWidth", default.planners.beam.width as u64, WIDTH),
            spin("SearchDepth", default.planners.beam.depth.into(), DEPTH),
            combo(
                "BeamMode",
                default.planners.beam.mode.name(),
                &BeamMode::ALL.map(|m| m.name().into()),
            ),
            spin("MultiPV", default.multipv as u64, MULTIPV),
            check("Ponder", false),
            spin("Move Overhead", default.move_overhead.as_millis() as u64, OVERHEAD_MS),
            check("UCI_ShowWDL", default.show_wdl),
            check("UCI_AnalyseMode", default.analyse_mode),
            check("UCI_Chess960", default.chess960),
            check("UCI_LimitStrength", default.limit_strength),
            spin("UCI_Elo", default.elo.into(), elo),
            text("SyzygyPath", EMPTY),
            text("LogFile", EMPTY),
        ]
    }

    /// Whether planners have to be built anew where these options take the place of `others`, their model and
    /// tablebases apart.
    pub fn reshapes_planners(&self, others: &Self) -> bool {
        self.resources != others.resources || self.planners != others.planners
    }

    /// Sets one option; names are read without regard to case. On an error all stay as they were.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let value = value.unwrap_or_default();
        let path = |none: &str| {
            let none = value.is_empty() || value.eq_ignore_ascii_case(none);
            (!none).then_some(value)
        };
        match name.to_ascii_lowercase().as_str() {
            "hash" => self.resources.hash_mb = spin(name, value, HASH_MB)? as usize,
            "threads" => self.resources.threads = spin(name, value, THREADS)? as usize,
            "planner" if value.eq_ignore_ascii_case(AUTO) => self.planner = None,
            "planner" => self.planner = Some(combo(name, value)?),
            "weightsfile" => self.model.weights = path(EMBEDDED).map(PathBuf::from),
            "backend" => self.model.backend = combo(name, value)?,
            "precision" => self.model.precision = combo(name, value)?,
            "beamwidth" => self.planners.beam.width = spin(name, value, WIDTH)? as usize,
            "searchdepth" => {
                let depth = spin(name, value, DEPTH)? as u32;
                (self.planners.beam.depth, self.planners.selective.depth) = (depth, depth);
            }
            "beammode" => {
                self.planners.beam.mode = BeamMode::named(&value.to_ascii_lowercase())
                    .ok_or_else(|| expected(name, "tree, global", value))?;
            }
            "multipv" => self.multipv = spin(name, value, MULTIPV)? as usize,
            // Pondering is the GUI's to begin; the option only tells it that we can.
            "ponder" => drop(check(name, value)?),
            "move overhead" => {
                self.move_overhead = Duration::from_millis(spin(name, value, OVERHEAD_MS)?);
            }
            "uci_showwdl" => self.show_wdl = check(name, value)?,
            "uci_analysemode" => self.analyse_mode = check(name, value)?,
            "uci_chess960" => self.chess960 = check(name, value)?,
            "uci_limitstrength" => self.limit_strength = check(name, value)?,
            "uci_elo" => self.elo = spin(name, value, WEAKEST_TO_STRONGEST)?,
            "syzygypath" => self.syzygy_path = path(EMPTY).map(str::to_owned),
            "logfile" => self.log_file = path(EMPTY).map(PathBuf::from),
            _ => bail!("unknown option '{}'", quoted(name)),
        }
        Ok(())
    }
}

fn spin<T>(name: &str, value: &str, range: RangeInclusive<T>) -> Result<T>
where
    T: std::str::FromStr + PartialOrd + Display,
{
    let wanted = || expected(name, &format!("{} to {}", range.start(), range.end()), value);
    let number: T = value.parse().map_err(|_| wanted())?;
    ensure!(range.contains(&number), wanted());
    Ok(number)
}

fn check(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(expected(name, "true or false", value)),
    }
}

fn combo<T: ValueEnum>(name: &str, value: &str) -> Result<T> {
    T::from_str(value, true).map_err(|_| expected(name, &choices::<T>().join(", "), value))
}

fn choices<T: ValueEnum>() -> Vec<String> {
    let name = |choice: &T| choice.to_possible_value().map(|value| value.get_name().to_owned());
    T::value_variants().iter().filter_map(name).collect()
}

fn expected(name: &str, wanted: &str, found: &str) -> anyhow::Error {
    anyhow!("option {name}: expected {wanted}, found '{}'", quoted(found))
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
        options.set("Precision", Some("BF16"))?;
        assert_eq!(options.move_overhead, Duration::from_millis(100));
        assert_eq!(options.planners.beam.mode, BeamMode::Global);
        assert_eq!(options.model.precision, Precision::Bf16);
        let before = options.clone();
        for (name, value, part) in [
            ("Hash", "0", "expected 1 to 65536, found '0'"),
            ("Hash", "x", "found 'x'"),
            ("UCI_Elo", "-1", "found '-1'"),
            ("Backend", "tpu", "expected auto, cpu, cuda, found 'tpu'"),
            ("UCI_Chess960", "maybe", "expected true or false"),
            ("Contempt", "1", "unknown option 'Contempt'"),
        ] {
            let error = options.set(name, Some(value)).expect_err(name).to_string();
            assert!(error.contains(part), "{error}");
            assert_eq!(options, before);
        }
        options.set("WeightsFile", Some(EMBEDDED))?;
        assert_eq!(options.model.weights, None);
        Ok(())
    }

    #[test]
    fn every_default_that_is_told_can_be_set() -> Result<()> {
        for line in Options::describe() {
            let words =
                line.strip_prefix("option name ").and_then(|line| line.split_once(" type "));
            let (name, rest) = words.expect("name and type");
            let Some((_, rest)) = rest.split_once(" default ") else { continue };
            let value = rest.split(" min ").next().and_then(|rest| rest.split(" var ").next());
            let mut options = Options::default();
            options.set(name, value)?;
            assert_eq!(options, Options::default(), "{line}");
        }
        Ok(())
    }
}
