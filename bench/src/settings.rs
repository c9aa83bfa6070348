//! A player's settings, read from and written as `key=value` words, and its time control.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use azimuth_search::names::{name_of, named};
use azimuth_search::{
    BeamSettings, BeamVerify, PlannerKind, PlannerSettings, Resources, SelectiveSettings,
};

/// Default score cache of a planner that plays in this process, in megabytes.
const HASH: usize = 16;

/// The ranges of the UCI options `Hash` and `Threads`.
const HASHES: RangeInclusive<usize> = 1..=65_536;
const THREADS: RangeInclusive<usize> = 1..=1024;

/// The largest width is far above the number of moves in any position.
const WIDTHS: RangeInclusive<usize> = 1..=65_536;

/// Default time by which a player may exceed its limit before it loses.
const MARGIN: Duration = Duration::from_millis(500);

/// Prefix of the words for UCI options.
const OPTION: &str = "option.";

#[derive(Clone, Debug, PartialEq)]
pub struct PlayerSettings {
    /// The player's name; derived from the other settings if `None`.
    pub name: Option<String>,
    /// Known rating, for an opponent that anchors the rating scale.
    pub elo: Option<f64>,
    pub program: PlayerProgram,
    pub limit: Limit,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PlayerProgram {
    InProcess(Box<InProcessPlayer>),
    Uci(UciPlayer),
}

#[derive(Clone, Debug, PartialEq)]
pub struct InProcessPlayer {
    /// A weights file or a Stockfish network (`.nnue`); the default weights if `None`.
    pub weights: Option<PathBuf>,
    pub planner: PlannerKind,
    pub planners: PlannerSettings,
    pub resources: Resources,
    /// Standard deviation of the error added to scores, in logits, as for `UCI_LimitStrength`.
    pub noise: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UciPlayer {
    pub command: PathBuf,
    pub arguments: Vec<String>,
    /// UCI options by name, set before the first game.
    pub options: BTreeMap<String, String>,
}

/// The limits of a move. If several are set, the first one reached ends the search.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
    pub move_time: Option<Duration>,
    pub clock: Option<TimeControl>,
    /// Time over the limit that is tolerated.
    pub margin: Duration,
}

impl PlayerSettings {
    /// Reads `key=value` words, quoted as in a shell; the help text of `elo` lists them.
    pub fn parse(text: &str) -> Result<Self> {
        // A single message: for an argument error, the command line does not print the cause chain.
        Self::read(text).map_err(|error| anyhow!("{error:#}"))
    }

    fn read(text: &str) -> Result<Self> {
        let mut words = Words::split(text)?;
        let mut limit = words.take_limit()?;
        let name = words.take_text("name");
        let elo = words.take("elo")?;
        let program = match words.take_text("cmd") {
            Some(command) => {
                let arguments = words.take_text("args").unwrap_or_default();
                let arguments = shlex::split(&arguments).context("args: a quote is not closed")?;
                let options = words.0.extract_if(.., |key, _| key.starts_with(OPTION));
                let options = options.map(|(key, value)| (key[OPTION.len()..].to_owned(), value));
                let options = options.collect();
                ensure!(limit.is_some(), "a limit is missing: depth, nodes, movetime or tc");
                PlayerProgram::Uci(UciPlayer { command: command.into(), arguments, options })
            }
            None => {
                if !limit.is_some() {
                    limit.depth = Some(BeamSettings::default().depth);
                }
                PlayerProgram::InProcess(Box::new(words.take_in_process(limit.depth)?))
            }
        };
        words.all_taken()?;
        let elo = elo.or_else(|| program.limited_elo());
        Ok(Self { name, elo, program, limit })
    }

    /// The settings that affect playing strength as words, without paths, for the record of a game:
    /// [`RecordedSettings`] reads them. `version` is the program's name and version.
    pub fn describe(&self, version: &str) -> String {
        let mut words = vec![word("engine", version)];
        match &self.program {
            PlayerProgram::InProcess(azimuth) => words.extend(azimuth.words()),
            PlayerProgram::Uci(UciPlayer { options, .. }) => words.extend(
                options.iter().map(|(name, value)| word(&format!("{OPTION}{name}"), value)),
            ),
        }
        words.extend(self.limit.words());
        words.join(" ")
    }
}

/// The settings in a game's record. Names are not checked, because those of earlier versions may be
/// gone.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSettings {
    /// Azimuth's search; `None` for another engine.
    pub planner: Option<PlannerKind>,
    /// Width of the beam, and how it scores children.
    pub width: Option<usize>,
    pub verify: BeamVerify,
    /// Whether a policy head helps to choose the moves that the beam keeps.
    pub policy: bool,
    /// Techniques that are switched off.
    pub without: Vec<String>,
    /// Parameters with their values.
    pub set: Vec<String>,
    pub noise: f32,
    pub limit: Limit,
}

impl RecordedSettings {
    /// Reads the words of [`PlayerSettings::describe`].
    pub fn read(text: &str) -> Result<Self> {
        let read = || -> Result<Self> {
            let mut words = Words::split(text)?;
            let width = words.take("width")?;
            // The record of a beam names its width and no planner.
            let beam = width.is_some().then_some(PlannerKind::Beam);
            let planner = words.take_text("planner").map(|name| named("planner", &name));
            let verify = words.take_text("verify").map(|name| named("verify", &name));
            Ok(Self {
                planner: planner.transpose()?.or(beam),
                width,
                verify: verify.transpose()?.unwrap_or(BeamVerify::None),
                policy: words.take_flag("policy")?.unwrap_or(false),
                without: words.take_list("without"),
                set: words.take_list("set"),
                noise: words.take("noise")?.unwrap_or(0.0),
                limit: words.take_limit()?,
            })
        };
        read().with_context(|| format!("settings '{text}'"))
    }
}

impl InProcessPlayer {
    /// The settings as words, without paths.
    fn words(&self) -> Vec<String> {
        let Self { planner, planners, resources, noise, .. } = self;
        let PlannerSettings { beam, selective } = planners;
        let is_beam = *planner == PlannerKind::Beam;
        let is_verified = is_beam && beam.verify != BeamVerify::None;
        let unless_empty = |text: String| (!text.is_empty()).then_some(text);
        words([
            ("width", is_beam.then(|| beam.width.to_string())),
            ("planner", (!is_beam).then(|| name_of(planner))),
            ("verify", is_verified.then(|| name_of(&beam.verify))),
            ("policy", (is_beam && beam.policy).then(|| "true".to_owned())),
            ("without", unless_empty(selective.parts.to_string())),
            ("set", unless_empty(selective.parameters.to_string())),
            ("hash", Some(resources.hash_mb.to_string())),
            ("threads", (resources.threads > 1).then(|| resources.threads.to_string())),
            ("noise", (*noise > 0.0).then(|| noise.to_string())),
        ])
    }
}

/// The words of the settings that have a value.
fn words<const N: usize>(settings: [(&str, Option<String>); N]) -> Vec<String> {
    settings.into_iter().filter_map(|(key, value)| Some(word(key, &value?))).collect()
}

/// `key=value`, quoted for a shell, so that [`Words::split`] reads it back.
fn word(key: &str, value: &str) -> String {
    // Only a NUL cannot be quoted, and a program's argument cannot contain one.
    let [key, value] = [key, value].map(|text| shlex::try_quote(text).unwrap_or_default());
    format!("{key}={value}")
}

impl PlayerProgram {
    /// The rating set by `UCI_LimitStrength` and `UCI_Elo`, if any.
    fn limited_elo(&self) -> Option<f64> {
        let Self::Uci(UciPlayer { options, .. }) = self else { return None };
        let find = |name: &str| {
            options.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        (find("UCI_LimitStrength")? == "true").then_some(())?;
        find("UCI_Elo")?.parse().ok()
    }
}

impl Limit {
    fn is_some(&self) -> bool {
        !self.words().is_empty()
    }

    fn words(&self) -> Vec<String> {
        let milliseconds = |time: Duration| time.as_millis().to_string();
        words([
            ("depth", self.depth.map(|depth| depth.to_string())),
            ("nodes", self.nodes.map(|nodes| nodes.to_string())),
            ("movetime", self.move_time.map(milliseconds)),
            ("tc", self.clock.map(|clock| clock.to_string())),
        ])
    }
}

/// `key=value` words that have not been read yet.
pub struct Words(BTreeMap<String, String>);

impl Words {
    /// Splits a text as a shell does. Fails at a word without `=` or at a repeated key.
    pub fn split(text: &str) -> Result<Self> {
        let words = shlex::split(text).context("a quote is not closed")?;
        let mut found = BTreeMap::new();
        for word in words {
            let (key, value) =
                word.split_once('=').with_context(|| format!("'{word}': expected key=value"))?;
            let before = found.insert(key.to_owned(), value.to_owned());
            ensure!(before.is_none(), "'{key}' comes twice");
        }
        Ok(Self(found))
    }

    pub fn split_at_commas(text: &str) -> Result<Self> {
        Self::split(&text.replace(',', " "))
    }

    pub fn take_text(&mut self, key: &str) -> Option<String> {
        self.0.remove(key)
    }

    pub fn take<T: std::str::FromStr>(&mut self, key: &str) -> Result<Option<T>> {
        let Some(text) = self.take_text(key) else { return Ok(None) };
        let number = text.parse().ok().with_context(|| format!("{key} '{text}': not a number"))?;
        Ok(Some(number))
    }

    fn take_flag(&mut self, key: &str) -> Result<Option<bool>> {
        let Some(text) = self.take_text(key) else { return Ok(None) };
        let flag = text.parse().ok().with_context(|| format!("{key} '{text}': not true or false"));
        flag.map(Some)
    }

    /// The number under `key`, which has to be there.
    pub fn require<T: std::str::FromStr>(&mut self, key: &str) -> Result<T> {
        self.take(key)?.with_context(|| format!("{key} is missing"))
    }

    pub fn all_taken(self) -> Result<()> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => bail!("unknown setting '{key}'"),
        }
    }

    /// The texts under `key`, which commas separate.
    fn take_list(&mut self, key: &str) -> Vec<String> {
        let text = self.take_text(key).unwrap_or_default();
        text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    fn take_limit(&mut self) -> Result<Limit> {
        Ok(Limit {
            depth: self.take("depth")?,
            nodes: self.take("nodes")?,
            move_time: self.take("movetime")?.map(Duration::from_millis),
            clock: self.take_text("tc").map(|text| TimeControl::parse(&text)).transpose()?,
            margin: self.take("margin")?.map_or(MARGIN, Duration::from_millis),
        })
    }

    fn take_in_process(&mut self, depth: Option<u32>) -> Result<InProcessPlayer> {
        let usual = BeamSettings::default();
        let planner = match self.take_text("planner") {
            None => PlannerKind::Beam,
            Some(name) => named("planner", &name)?,
        };
        let parts = self.take_text("without").unwrap_or_default().parse().context("without")?;
        let parameters = self.take_text("set").unwrap_or_default().parse().context("set")?;
        let depth = depth.unwrap_or(usual.depth);
        ensure!(depth > 0, "depth: expected at least 1");
        let noise = self.take("noise")?.unwrap_or(0.0);
        ensure!((0.0..=100.0).contains(&noise), "noise: expected 0 to 100");
        // In the beam, noise models errors in the scores of embeddings, so verification is off.
        let noisy_beam = noise > 0.0 && planner == PlannerKind::Beam;
        let usual_verify = if noisy_beam { BeamVerify::None } else { usual.verify };
        let verify =
            self.take_text("verify").map_or(Ok(usual_verify), |name| named("verify", &name))?;
        ensure!(!noisy_beam || verify == BeamVerify::None, "noise goes with verify=none alone");
        let width = self.take_in("width", WIDTHS, usual.width)?;
        let policy = self.take_flag("policy")?.unwrap_or(usual.policy);
        ensure!(
            !policy || (planner == PlannerKind::Beam && verify == BeamVerify::None),
            "policy goes with verify=none alone"
        );
        let planners = PlannerSettings {
            beam: BeamSettings { width, depth, verify, policy },
            selective: SelectiveSettings { depth, parts, parameters },
        };
        let resources = Resources {
            hash_mb: self.take_in("hash", HASHES, HASH)?,
            threads: self.take_in("threads", THREADS, 1)?,
        };
        let weights = self.take_text("weights").map(PathBuf::from);
        Ok(InProcessPlayer { weights, planner, planners, resources, noise })
    }

    fn take_in(&mut self, key: &str, range: RangeInclusive<usize>, usual: usize) -> Result<usize> {
        let number = self.take(key)?.unwrap_or(usual);
        let (least, most) = (range.start(), range.end());
        ensure!(range.contains(&number), "{key} {number}: expected {least} to {most}");
        Ok(number)
    }
}

/// The last component of a path, for records that must not contain directories.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Time for the whole game or for a number of moves, and the increment per move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeControl {
    /// Number of moves after which the base is added again.
    pub moves: Option<NonZeroU32>,
    pub base: Duration,
    pub increment: Duration,
}

impl TimeControl {
    /// Reads `SECONDS`, `SECONDS+INCREMENT` or `MOVES/SECONDS+INCREMENT`, the notation of cutechess
    /// and fastchess.
    pub fn parse(text: &str) -> Result<Self> {
        let parse = || {
            let (moves, rest) = match text.split_once('/') {
                Some((moves, rest)) => {
                    (Some(moves.parse().ok().context("no number of moves")?), rest)
                }
                None => (None, text),
            };
            let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
            Ok(Self { moves, base: seconds(base)?, increment: seconds(increment)? })
        };
        parse().map_err(|error: anyhow::Error| {
            anyhow!("tc '{text}': expected SECONDS+INCREMENT or MOVES/SECONDS+INCREMENT ({error})")
        })
    }

    /// Time left after a player's move `number`, counted from 1, that took `time` of `left`.
    pub fn after(self, left: Duration, time: Duration, number: usize) -> Duration {
        left.saturating_sub(time) + self.added(number)
    }

    /// Time added to the clock after a player's move `number`.
    pub fn added(self, number: usize) -> Duration {
        let renewed = self.moves.is_some_and(|moves| number.is_multiple_of(moves.get() as usize));
        self.increment + if renewed { self.base } else { Duration::ZERO }
    }

    /// Moves until the base is added again, for a player that has made `made` moves.
    pub fn moves_to_go(self, made: usize) -> Option<u32> {
        self.moves.map(|moves| moves.get() - (made % moves.get() as usize) as u32)
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}+{}", self.base.as_secs_f64(), self.increment.as_secs_f64())
    }
}

/// The longest time, in seconds. Sums and multiples of it still fit into a `Duration`.
const LONGEST: f64 = 1e9;

fn seconds(text: &str) -> Result<Duration> {
    let seconds: f64 = text.parse().ok().context("not a number of seconds")?;
    ensure!(seconds <= LONGEST, "more than {LONGEST} seconds");
    Duration::try_from_secs_f64(seconds).context("not a time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_settings_are_those_of_the_player() -> Result<()> {
        for text in [
            "width=5 depth=4 verify=quiescence threads=2",
            "depth=4 verify=none policy=true",
            "depth=4 verify=none policy=false",
            "noise=0.5",
            "planner=selective nodes=100 noise=1.25 tc=40/10+0.1",
            "planner=selective movetime=10 without=late-move-reductions,delta-pruning set=lmr-base:80",
        ] {
            let player = PlayerSettings::parse(text)?;
            let PlayerProgram::InProcess(azimuth) = &player.program else { bail!("{player:?}") };
            let PlannerSettings { beam, selective } = azimuth.planners;
            let is_beam = azimuth.planner == PlannerKind::Beam;
            let recorded = RecordedSettings::read(&player.describe("Azimuth 0.1.0"))?;
            assert_eq!(recorded.planner, Some(azimuth.planner));
            assert_eq!(recorded.width, is_beam.then_some(beam.width));
            assert_eq!(recorded.verify, if is_beam { beam.verify } else { BeamVerify::None });
            assert_eq!(recorded.policy, is_beam && beam.policy);
            assert_eq!((recorded.noise, recorded.limit), (azimuth.noise, player.limit));
            assert_eq!(recorded.without.join(","), selective.parts.to_string());
            assert_eq!(recorded.set.join(","), selective.parameters.to_string());
        }
        // Another engine, and an earlier version of Azimuth.
        let other = "engine='Stockfish 16' option.Hash=16 movetime=50";
        assert_eq!(RecordedSettings::read(other)?.planner, None);
        let earlier = "engine=x width=3 mode=tree without=gone,also-gone hash=16 depth=6";
        let earlier = RecordedSettings::read(earlier)?;
        assert_eq!(earlier.planner, Some(PlannerKind::Beam));
        assert_eq!(earlier.without, ["gone", "also-gone"]);
        Ok(())
    }

    #[test]
    fn settings_are_read_and_described() -> Result<()> {
        let stockfish = PlayerSettings::parse(
            "cmd='/a path/stockfish' movetime=50 option.UCI_LimitStrength=true \
             option.UCI_Elo=1500 'option.Syzygy Path=/x y' args='--quiet \"one word\"'",
        )?;
        let PlayerProgram::Uci(UciPlayer { arguments, .. }) = &stockfish.program else {
            bail!("another program: {stockfish:?}");
        };
        assert_eq!(arguments, &["--quiet", "one word"]);
        assert_eq!(stockfish.elo, Some(1500.0));
        assert_eq!(
            stockfish.describe("Stockfish 16"),
            "engine='Stockfish 16' 'option.Syzygy Path'='/x y' option.UCI_Elo=1500 \
             option.UCI_LimitStrength=true movetime=50"
        );
        let beam = PlayerSettings::parse("width=5 depth=4 verify=quiescence")?;
        assert_eq!(
            beam.describe("azimuth"),
            "engine=azimuth width=5 verify=quiescence hash=16 depth=4"
        );
        let usual = PlayerSettings::parse("verify=none")?;
        assert_eq!(usual.describe("azimuth"), "engine=azimuth width=3 hash=16 depth=6");
        let timed = PlayerSettings::parse("tc=10+0.1")?;
        assert!(timed.describe("azimuth").ends_with("hash=16 tc=10+0.1"));
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("depth=x", "depth 'x': not a number"),
            ("depth=0", "depth: expected at least 1"),
            ("width=0", "width 0: expected 1 to 65536"),
            ("threads=1025", "threads 1025: expected 1 to 1024"),
            ("hash=65537", "hash 65537: expected 1 to 65536"),
            ("noise=-1", "noise: expected 0 to 100"),
            ("cmd=stockfish", "a limit is missing"),
            ("cmd=stockfish args=\"'a\"", "args: a quote is not closed"),
            ("colour=red", "unknown setting 'colour'"),
            ("depth=1 depth=2", "'depth' comes twice"),
            ("tc=ten", "tc 'ten': expected SECONDS+INCREMENT"),
            ("noise=0.5 verify=1", "noise goes with verify=none alone"),
            ("policy=true", "policy goes with verify=none alone"),
            ("policy=maybe", "policy 'maybe': not true or false"),
            ("verify=9", "verify '9': expected none, quiescence, 1, 2, 3, 4"),
            ("set=width:3", "set: 'width' is no parameter of the selective search"),
            ("without=width", "without: 'width' is no part of the selective search"),
            ("depth", "expected key=value"),
            ("'depth=1", "a quote is not closed"),
        ] {
            let error = PlayerSettings::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_is_read_is_written() -> Result<()> {
        for (text, written) in
            [("10+0.1", "10+0.1"), ("60", "60+0"), ("40/10", "40/10+0"), ("3/2.5+1", "3/2.5+1")]
        {
            assert_eq!(TimeControl::parse(text)?.to_string(), written);
        }
        let wrong = "ten -1 0/10 40/ x/10 10+ 10+-1 1e300 1e10 1+9223372036854775807";
        for text in wrong.split(' ').chain([""]) {
            let error = TimeControl::parse(text).expect_err(text).to_string();
            assert!(error.contains("expected SECONDS+INCREMENT"), "{error}");
        }
        Ok(())
    }

    #[test]
    fn the_base_comes_again_after_so_many_moves() -> Result<()> {
        let control = TimeControl::parse("2/10+1")?;
        let seconds = Duration::from_secs;
        assert_eq!(control.after(seconds(10), seconds(4), 1), seconds(7));
        assert_eq!(control.after(seconds(7), seconds(8), 2), seconds(11));
        assert_eq!([0, 1, 2, 3].map(|made| control.moves_to_go(made)), [2, 1, 2, 1].map(Some));
        assert_eq!(TimeControl::parse("10+1")?.moves_to_go(5), None);
        Ok(())
    }
}
