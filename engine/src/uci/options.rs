//! The UCI options: names, ranges, defaults and current values, of Azimuth ([`Options`]) and of
//! every program behind the protocol ([`SessionOptions`]).

use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use azimuth_search::inference::ModelSource;
use azimuth_search::names::{name_of, names_of};
use azimuth_search::{MOST_PIECES, PlannerKind, PlannerSettings, Probing, Resources};
use clap::ValueEnum;

use super::command::quoted;
use crate::limited_strength::{FULL_SKILL, WEAKEST_TO_STRONGEST, elo_of_skill};

/// Value of `WeightsFile` for the embedded weights.
const EMBEDDED: &str = "<embedded>";

/// Value of `Planner` for automatic choice.
const AUTO: &str = "auto";

const HASH_MB: RangeInclusive<u64> = 1..=65_536;
const THREADS: RangeInclusive<u64> = 1..=1024;
const SKILL: RangeInclusive<u64> = 0..=FULL_SKILL as u64;
const PROBE_DEPTH: RangeInclusive<u64> = 1..=100;
const PROBE_LIMIT: RangeInclusive<u64> = 0..=MOST_PIECES as u64;
const WIDTH: RangeInclusive<u64> = 1..=64;
const DEPTH: RangeInclusive<u64> = 1..=64;

/// The current values of Azimuth's options.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub resources: Resources,
    pub model: ModelSource,
    /// The planner; chosen by the kind of search if `None`.
    pub planner: Option<PlannerKind>,
    pub planners: PlannerSettings,
    /// Play no better than [`Self::elo`].
    limit_strength: bool,
    /// Elo on the scale of Stockfish 16's `UCI_Elo`.
    pub elo: u32,
    /// Stockfish's skill level; [`FULL_SKILL`] is full strength.
    pub skill: u32,
    /// Folders of Syzygy tables, separated as in `PATH`.
    pub syzygy_path: Option<String>,
    /// When the tablebases are probed, and how the results count.
    pub probing: Probing,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            resources: Resources { hash_mb: 16, threads: 1 },
            model: ModelSource::default(),
            planner: None,
            planners: PlannerSettings::default(),
            limit_strength: false,
            elo: *WEAKEST_TO_STRONGEST.end(),
            skill: FULL_SKILL,
            syzygy_path: None,
            probing: Probing::default(),
        }
    }
}

/// Range of `UCI_Elo`. Its end is Stockfish's; beyond the strongest measured rating, the strength is
/// not limited.
const ELO: RangeInclusive<u64> = *WEAKEST_TO_STRONGEST.start() as u64..=3190;

impl Options {
    /// The `option` lines that answer `uci`.
    pub fn describe() -> Vec<String> {
        let default = Self::default();
        let beam = default.planners.beam;
        let probing = default.probing;
        vec![
            spin_line("Hash", default.resources.hash_mb as u64, &HASH_MB),
            "option name Clear Hash type button".to_owned(),
            spin_line("Threads", default.resources.threads as u64, &THREADS),
            choice_line("Planner", AUTO, &planners()),
            text_line("WeightsFile", EMBEDDED),
            combo_line("Backend", &default.model.backend),
            combo_line("Precision", &default.model.precision),
            spin_line("BeamWidth", beam.width as u64, &WIDTH),
            spin_line("SearchDepth", beam.depth.into(), &DEPTH),
            combo_line("BeamVerify", &beam.verify),
            check_line("BeamPolicy", beam.policy),
            check_line("UCI_LimitStrength", default.limit_strength),
            spin_line("UCI_Elo", default.elo.into(), &ELO),
            spin_line("Skill Level", default.skill.into(), &SKILL),
            text_line("SyzygyPath", EMPTY),
            spin_line("SyzygyProbeDepth", probing.depth.into(), &PROBE_DEPTH),
            spin_line("SyzygyProbeLimit", probing.most_pieces as u64, &PROBE_LIMIT),
            check_line("Syzygy50MoveRule", probing.fifty_move_rule),
        ]
    }

    /// The Elo limit, if any. `UCI_Elo` overrides `Skill Level`.
    pub fn limited_elo(&self) -> Option<u32> {
        match self.limit_strength {
            true => Some(self.elo).filter(|elo| WEAKEST_TO_STRONGEST.contains(elo)),
            false => elo_of_skill(self.skill),
        }
    }

    /// Sets one option; names are case-insensitive. Changes nothing on an error.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let value = value.unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "hash" => self.resources.hash_mb = spin(name, value, HASH_MB)? as usize,
            "threads" => self.resources.threads = spin(name, value, THREADS)? as usize,
            "planner" if value.eq_ignore_ascii_case(AUTO) => self.planner = None,
            "planner" => {
                let kind = combo(name, value);
                let kind = kind.map_err(|_| expected(name, &planners().join(", "), value))?;
                self.planner = Some(kind);
            }
            "weightsfile" => self.model.weights = text(value, EMBEDDED).map(PathBuf::from),
            "backend" => self.model.backend = combo(name, value)?,
            "precision" => self.model.precision = combo(name, value)?,
            "beamwidth" => self.planners.beam.width = spin(name, value, WIDTH)? as usize,
            "searchdepth" => {
                let depth = spin(name, value, DEPTH)? as u32;
                (self.planners.beam.depth, self.planners.selective.depth) = (depth, depth);
            }
            "beamverify" => self.planners.beam.verify = combo(name, value)?,
            "beampolicy" => self.planners.beam.policy = check(name, value)?,
            "uci_limitstrength" => self.limit_strength = check(name, value)?,
            "uci_elo" => self.elo = spin(name, value, ELO)? as u32,
            "skill level" => self.skill = spin(name, value, SKILL)? as u32,
            "syzygyprobedepth" => self.probing.depth = spin(name, value, PROBE_DEPTH)? as u32,
            "syzygyprobelimit" => {
                self.probing.most_pieces = spin(name, value, PROBE_LIMIT)? as usize;
            }
            "syzygy50moverule" => self.probing.fifty_move_rule = check(name, value)?,
            "syzygypath" => self.syzygy_path = text(value, EMPTY).map(str::to_owned),
            _ => bail!("unknown option '{}'", quoted(name)),
        }
        Ok(())
    }
}

/// The values of `Planner`.
fn planners() -> Vec<String> {
    [&[AUTO.to_owned()][..], &names_of::<PlannerKind>()].concat()
}

const OVERHEAD_MS: RangeInclusive<u64> = 0..=5_000;
const MULTIPV: RangeInclusive<u64> = 1..=500;
const SLOW_MOVER: RangeInclusive<u64> = 10..=1_000;
const NODES_PER_MS: RangeInclusive<u64> = 0..=10_000;

/// The current values of the options that do not depend on the program.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionOptions {
    /// Time reserved at each move for communication with the GUI.
    pub move_overhead: Duration,
    /// Share of its usual time that a move of a timed game takes, in percent.
    pub slow_mover: u32,
    pub multipv: usize,
    pub show_wdl: bool,
    /// The GUI analyses and does not play.
    pub analyse_mode: bool,
    /// Write castling as king takes rook.
    pub chess960: bool,
    /// Nodes per millisecond if time is counted in nodes.
    pub nodes_per_ms: Option<NonZeroU64>,
    /// The opponent, as the GUI names it.
    pub opponent: Option<String>,
    pub log_file: Option<PathBuf>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            move_overhead: Duration::from_millis(30),
            slow_mover: 100,
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
            spin_line("Slow Mover", default.slow_mover.into(), &SLOW_MOVER),
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
            "slow mover" => self.slow_mover = spin(name, value, SLOW_MOVER)? as u32,
            "uci_showwdl" => self.show_wdl = check(name, value)?,
            "uci_analysemode" => self.analyse_mode = check(name, value)?,
            "uci_chess960" => self.chess960 = check(name, value)?,
            "nodestime" => self.nodes_per_ms = NonZeroU64::new(spin(name, value, NODES_PER_MS)?),
            "uci_opponent" => self.opponent = text(value, EMPTY).map(str::to_owned),
            // Some GUIs set every option that they were sent.
            "uci_engineabout" => {}
            "debug log file" | "logfile" => self.log_file = text(value, EMPTY).map(PathBuf::from),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The value for no text.
const EMPTY: &str = "<empty>";

fn spin_line(name: &str, value: u64, range: &RangeInclusive<u64>) -> String {
    let (min, max) = (range.start(), range.end());
    format!("option name {name} type spin default {value} min {min} max {max}")
}

fn check_line(name: &str, value: bool) -> String {
    format!("option name {name} type check default {value}")
}

fn combo_line<T: ValueEnum>(name: &str, value: &T) -> String {
    choice_line(name, &name_of(value), &names_of::<T>())
}

fn choice_line(name: &str, value: &str, choices: &[String]) -> String {
    let choices: String = choices.iter().map(|choice| format!(" var {choice}")).collect();
    format!("option name {name} type combo default {value}{choices}")
}

pub fn text_line(name: &str, value: &str) -> String {
    format!("option name {name} type string default {value}")
}

/// The text of a value; `None` if it is empty or `none`.
fn text<'a>(value: &'a str, none: &str) -> Option<&'a str> {
    (!value.is_empty() && !value.eq_ignore_ascii_case(none)).then_some(value)
}

fn spin(name: &str, value: &str, range: RangeInclusive<u64>) -> Result<u64> {
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| expected(name, &format!("{} to {}", range.start(), range.end()), value))
}

fn check(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(expected(name, "true or false", value)),
    }
}

fn combo<T: ValueEnum>(name: &str, value: &str) -> Result<T> {
    T::from_str(value, true).map_err(|_| expected(name, &names_of::<T>().join(", "), value))
}

fn expected(name: &str, wanted: &str, found: &str) -> anyhow::Error {
    anyhow!("option {name}: expected {wanted}, found '{}'", quoted(found))
}

#[cfg(test)]
mod tests {
    use azimuth_search::BeamVerify;
    use azimuth_search::inference::Precision;

    use super::*;

    #[test]
    fn names_ignore_case_and_ranges_hold() -> Result<()> {
        let mut options = Options::default();
        options.set("HASH", Some("100"))?;
        options.set("BeamVerify", Some("Quiescence"))?;
        options.set("BeamPolicy", Some("True"))?;
        options.set("weightsfile", Some("/a path/w.safetensors"))?;
        options.set("Precision", Some("BF16"))?;
        assert_eq!(options.resources.hash_mb, 100);
        assert_eq!(options.planners.beam.verify, BeamVerify::Quiescence);
        assert!(options.planners.beam.policy);
        assert_eq!(options.model.precision, Precision::Bf16);
        let before = options.clone();
        for (name, value, part) in [
            ("Hash", "x", "expected 1 to 65536, found 'x'"),
            ("UCI_Elo", "-1", "found '-1'"),
            ("Threads", "1025", "expected 1 to 1024"),
            ("SyzygyProbeLimit", "8", "expected 0 to 7"),
            ("Syzygy50MoveRule", "no", "expected true or false"),
            ("UCI_LimitStrength", "maybe", "expected true or false"),
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
    fn a_level_limits_unless_a_rating_does() -> Result<()> {
        let mut options = Options::default();
        assert_eq!(options.limited_elo(), None);
        options.set("Skill Level", Some("0"))?;
        assert_eq!(options.limited_elo(), Some(1320));
        options.set("UCI_Elo", Some("1000"))?;
        assert_eq!(options.limited_elo(), Some(1320));
        options.set("UCI_LimitStrength", Some("true"))?;
        assert_eq!(options.limited_elo(), Some(1000));
        // Beyond the strongest measured level, nothing is limited.
        options.set("UCI_Elo", Some("3190"))?;
        assert_eq!(options.limited_elo(), None);
        Ok(())
    }

    #[test]
    fn every_default_that_is_told_can_be_set() -> Result<()> {
        for line in [Options::describe(), SessionOptions::describe()].concat() {
            let words =
                line.strip_prefix("option name ").and_then(|line| line.split_once(" type "));
            let (name, rest) = words.expect("name and type");
            let Some((_, rest)) = rest.split_once(" default ") else { continue };
            let value = rest.split(" min ").next().and_then(|rest| rest.split(" var ").next());
            let (mut options, mut session) = (Options::default(), SessionOptions::default());
            if !session.set(name, value)? {
                options.set(name, value)?;
            }
            assert_eq!((options, session), Default::default(), "{line}");
        }
        Ok(())
    }
}
