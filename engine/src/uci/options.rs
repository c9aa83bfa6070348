//! Azimuth's UCI options: names, ranges, defaults and current values.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Result, bail};

use super::command::quoted;
use super::limited_strength::WEAKEST_TO_STRONGEST;
use super::option_values::{
    EMPTY, button_line, check, check_line, choice_line, combo, combo_line, expected, path, spin,
    spin_line, text_line,
};
use super::skill_level::{FULL_SKILL, elo_of_skill};
use crate::inference::ModelSource;
use crate::names::names_of;
use crate::search::{MOST_PIECES, PlannerKind, PlannerSettings, Probing, Resources};

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

/// The current values of the options.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Hash size and number of threads.
    pub resources: Resources,
    /// The encoder.
    pub model: ModelSource,
    /// The planner; chosen by the kind of search if `None`.
    pub planner: Option<PlannerKind>,
    /// Settings of the planners.
    pub planners: PlannerSettings,
    /// Play no better than [`Self::elo`].
    pub limit_strength: bool,
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

impl Options {
    /// The `option` lines that answer `uci`.
    pub fn describe() -> Vec<String> {
        let default = Self::default();
        let beam = default.planners.beam;
        let elo = u64::from(*WEAKEST_TO_STRONGEST.start())..=u64::from(*WEAKEST_TO_STRONGEST.end());
        let probing = default.probing;
        vec![
            spin_line("Hash", default.resources.hash_mb as u64, &HASH_MB),
            button_line("Clear Hash"),
            spin_line("Threads", default.resources.threads as u64, &THREADS),
            choice_line("Planner", AUTO, &planners()),
            text_line("WeightsFile", EMBEDDED),
            combo_line("Backend", &default.model.backend),
            combo_line("Precision", &default.model.precision),
            spin_line("BeamWidth", beam.width as u64, &WIDTH),
            spin_line("SearchDepth", beam.depth.into(), &DEPTH),
            combo_line("BeamVerify", &beam.verify),
            check_line("UCI_LimitStrength", default.limit_strength),
            spin_line("UCI_Elo", default.elo.into(), &elo),
            spin_line("Skill Level", default.skill.into(), &SKILL),
            text_line("SyzygyPath", EMPTY),
            spin_line("SyzygyProbeDepth", probing.depth.into(), &PROBE_DEPTH),
            spin_line("SyzygyProbeLimit", probing.most_pieces as u64, &PROBE_LIMIT),
            check_line("Syzygy50MoveRule", probing.fifty_move_rule),
        ]
    }

    /// Whether a change from `others` to these options requires new planners, apart from changes of
    /// the model and the tablebases.
    pub fn reshapes_planners(&self, others: &Self) -> bool {
        self.resources != others.resources || self.planners != others.planners
    }

    /// The Elo limit, if any. `UCI_Elo` overrides `Skill Level`.
    pub fn limited_elo(&self) -> Option<u32> {
        if self.limit_strength { Some(self.elo) } else { elo_of_skill(self.skill) }
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
            "weightsfile" => self.model.weights = path(value, EMBEDDED).map(PathBuf::from),
            "backend" => self.model.backend = combo(name, value)?,
            "precision" => self.model.precision = combo(name, value)?,
            "beamwidth" => self.planners.beam.width = spin(name, value, WIDTH)? as usize,
            "searchdepth" => {
                let depth = spin(name, value, DEPTH)? as u32;
                (self.planners.beam.depth, self.planners.selective.depth) = (depth, depth);
            }
            "beamverify" => self.planners.beam.verify = combo(name, value)?,
            "uci_limitstrength" => self.limit_strength = check(name, value)?,
            "uci_elo" => self.elo = spin(name, value, WEAKEST_TO_STRONGEST)?,
            "skill level" => self.skill = spin(name, value, SKILL)? as u32,
            "syzygyprobedepth" => self.probing.depth = spin(name, value, PROBE_DEPTH)? as u32,
            "syzygyprobelimit" => {
                self.probing.most_pieces = spin(name, value, PROBE_LIMIT)? as usize;
            }
            "syzygy50moverule" => self.probing.fifty_move_rule = check(name, value)?,
            "syzygypath" => self.syzygy_path = path(value, EMPTY).map(str::to_owned),
            _ => bail!("unknown option '{}'", quoted(name)),
        }
        Ok(())
    }
}

/// The values of `Planner`.
fn planners() -> Vec<String> {
    [&[AUTO.to_owned()][..], &names_of::<PlannerKind>()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Precision;
    use crate::search::BeamVerify;

    #[test]
    fn names_ignore_case_and_ranges_hold() -> Result<()> {
        let mut options = Options::default();
        options.set("HASH", Some("100"))?;
        options.set("BeamVerify", Some("Quiescence"))?;
        options.set("weightsfile", Some("/a path/w.safetensors"))?;
        options.set("Precision", Some("BF16"))?;
        assert_eq!(options.resources.hash_mb, 100);
        assert_eq!(options.planners.beam.verify, BeamVerify::Quiescence);
        assert_eq!(options.model.precision, Precision::Bf16);
        let before = options.clone();
        for (name, value, part) in [
            ("Hash", "0", "expected 1 to 65536, found '0'"),
            ("Hash", "x", "found 'x'"),
            ("UCI_Elo", "-1", "found '-1'"),
            ("Planner", "minimax", "expected auto, beam, selective, found 'minimax'"),
            ("Threads", "1025", "expected 1 to 1024"),
            ("Skill Level", "21", "expected 0 to 20"),
            ("SyzygyProbeLimit", "8", "expected 0 to 7"),
            ("Syzygy50MoveRule", "no", "expected true or false"),
            ("Backend", "tpu", "expected auto, cpu, cuda, found 'tpu'"),
            ("UCI_LimitStrength", "maybe", "expected true or false"),
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
    fn a_level_limits_unless_a_rating_does() -> Result<()> {
        let mut options = Options::default();
        assert_eq!(options.limited_elo(), None);
        options.set("Skill Level", Some("0"))?;
        assert_eq!(options.limited_elo(), Some(1320));
        options.set("UCI_Elo", Some("1000"))?;
        assert_eq!(options.limited_elo(), Some(1320));
        options.set("UCI_LimitStrength", Some("true"))?;
        assert_eq!(options.limited_elo(), Some(1000));
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
