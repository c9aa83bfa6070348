//! `azimuth-bench report`: renders the results in `bench/results/` as tables in the documents and
//! as plots. `sources.toml` in that folder assigns the files to tables and names players.

mod strength;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_cli::print_line;
use azimuth_network::replace_file::replace_file;
use clap::Args;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use strength::{Strength, effects_table, rivals_table, summary, variants_table};

use crate::accuracy::AccuracyResults;
use crate::games::{GameRecord, read_file};
use crate::settings::file_name;
use crate::speed::SpeedResults;
use crate::suite::{SuiteResults, TimedSuite};
use crate::wdl;

const RESULTS: &str = "bench/results";

/// The documents of this repository that contain tables.
const DOCUMENTS: [&str; 4] =
    ["README.md", "bench/RESULTS.md", "docs/limited-strength.md", "rivals/README.md"];

/// Write the documents' tables and the plots from the results, or check that they are current.
///
/// The results folder's sources.toml lists the tables that each file of games or measurements
/// feeds.
#[derive(Args)]
pub struct ResultsReport {
    /// Change nothing, and fail if a table or plot is out of date.
    #[arg(long)]
    check: bool,
}

pub fn run(arguments: &ResultsReport) -> Result<()> {
    let folder = Path::new(RESULTS);
    let results = Results::read(folder)?;
    let players = &results.players;
    let of_kind = |kind| Strength::of(&results.matches, kind);
    let strength = of_kind(Kind::Beam)?;
    let limited = of_kind(Kind::Limited)?;
    let (timed, gauntlet) = (of_kind(Kind::Timed)?, of_kind(Kind::Gauntlet)?);
    let rivals = of_kind(Kind::Rivals)?;
    let fits = wdl_fits(&results)?;
    let mut plots = vec![
        ("elo-by-depth.svg".to_owned(), strength.plot_by_depth()?),
        ("speed-by-batch.svg".to_owned(), tables::speed_by_batch(&results.speeds)?),
    ];
    for fit in &fits {
        plots.push((fit.plot_name(), fit.chart()?));
    }
    let tables = [
        ("depth", strength.depth_table(false)),
        ("depth-verified", strength.depth_table(true)),
        ("beam-time", variants_table(&results.matches, &players.beams)),
        ("summary", summary(&[&timed, &gauntlet], &strength, &players.shipped)),
        ("timed", timed.timed_table()),
        ("gauntlet", gauntlet.gauntlet_table(&players.shipped)),
        ("rivals", rivals_table(&results.rivals, &rivals, players)),
        ("effects", effects_table(&results.matches)?),
        ("levels", limited.level_table()),
        ("speed-summary", tables::speed_summary(&results.speeds)),
        ("encoders", tables::encoders(&results.speeds)),
        ("search", tables::searches(&results.speeds)),
        ("suites", tables::suites(&results.suites)),
        ("timed-suites", tables::timed_suites(&results.timed_suites)),
        ("accuracy", tables::accuracies(&results.accuracies)),
        ("wdl", tables::chances(&fits)),
        ("metrics", tables::metrics(&results.metrics)?),
    ];
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for document in DOCUMENTS {
        let name = || format!("'{document}'");
        let before = std::fs::read_to_string(document).with_context(name)?;
        files.push((document.into(), with_tables(&before, &tables).with_context(name)?));
    }
    files.extend(plots.into_iter().map(|(name, plot)| (folder.join(name), plot)));
    for (path, text) in files {
        let current = std::fs::read_to_string(&path).is_ok_and(|found| found == text);
        if arguments.check {
            ensure!(current, "'{}' is out of date; run azimuth-bench report", path.display());
        } else if !current {
            replace_file(&path, text.as_bytes())?;
            print_line(format_args!("wrote {}", path.display()))?;
        }
    }
    Ok(())
}

const END: &str = "<!-- report:end -->";

/// `text` with each named table between `<!-- report:NAME -->` and the end mark. A table without a
/// mark is skipped. Fails if a mark has no end or no table.
fn with_tables(text: &str, tables: &[(&str, String)]) -> Result<String> {
    const START: &str = "<!-- report:";
    let (mut done, mut rest) = (String::new(), text);
    while let Some(place) = rest.find(START) {
        let (before, mark) = rest.split_at(place);
        let (name, _) = mark[START.len()..].split_once(" -->").context("a report mark is open")?;
        let (_, table) = tables
            .iter()
            .find(|(known, _)| *known == name)
            .with_context(|| format!("no table is called '{name}'"))?;
        let end = mark.find(END).with_context(|| format!("table '{name}': '{END}' is missing"))?;
        done.push_str(before);
        done.push_str(&format!("{START}{name} -->\n{table}{END}"));
        rest = &mark[end + END.len()..];
    }
    done.push_str(rest);
    Ok(done)
}

/// The fits of the chances to win, draw and lose to the games of a results folder.
fn wdl_fits(results: &Results) -> Result<Vec<wdl::Fit>> {
    let played = results.matches.iter().filter(|played| played.kind == Kind::Wdl);
    wdl::fits(&played.flat_map(|played| &played.games).collect::<Vec<_>>())
}

pub struct Match {
    pub file: String,
    pub kind: Kind,
    pub games: Vec<GameRecord>,
}

/// The results, parsed.
pub struct Results {
    /// In the order of the file names.
    pub matches: Vec<Match>,
    pub speeds: Vec<SpeedResults>,
    pub suites: Vec<SuiteResults>,
    pub timed_suites: Vec<TimedSuite>,
    pub accuracies: Vec<AccuracyResults>,
    pub rivals: Vec<RivalResults>,
    /// Held-out metrics by name of the weights, in the format of `azimuth-train eval --json`.
    pub metrics: Vec<(String, serde_json::Value)>,
    pub players: Players,
}

impl Results {
    /// Reads the files listed in a folder's manifest that feed a table or plot.
    pub fn read(folder: &Path) -> Result<Self> {
        let sources = Sources::read(folder)?;
        let mut matches = Vec::new();
        for (file, kind) in sources.games().into_iter().filter(|(_, kind)| *kind != Kind::Checks) {
            let games = read_file(&folder.join(file))?;
            matches.push(Match { file: file.to_owned(), kind, games });
        }
        let figures = &sources.figures;
        let suites: Vec<Vec<SuiteResults>> = read_all(folder, &figures.suites)?;
        let timed_suites: Vec<Vec<TimedSuite>> = read_all(folder, &figures.timed_suites)?;
        let metrics = figures
            .metrics
            .iter()
            .map(|metrics| Ok((metrics.weights.clone(), read_json(&folder.join(&metrics.file))?)));
        Ok(Self {
            matches,
            speeds: read_all(folder, &figures.speed)?,
            suites: suites.into_iter().flatten().collect(),
            timed_suites: timed_suites.into_iter().flatten().collect(),
            accuracies: read_all(folder, &figures.accuracy)?,
            rivals: read_all(folder, &figures.rivals)?,
            metrics: metrics.collect::<Result<_>>()?,
            players: sources.players,
        })
    }
}

fn read_all<T: DeserializeOwned>(folder: &Path, files: &[String]) -> Result<Vec<T>> {
    files.iter().map(|file| read_json(&folder.join(file))).collect()
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let name = || format!("results file '{}'", path.display());
    let text = std::fs::read_to_string(path).with_context(name)?;
    serde_json::from_str(&text).with_context(name)
}

/// The output of `azimuth-rivals tau --json`.
#[derive(Deserialize)]
pub struct RivalResults {
    /// The rival's name, or `azimuth-` with the name of the weights.
    pub rival: String,
    /// Kendall's tau-b on each set of positions.
    pub taus: Vec<Tau>,
    /// Positions per second in a search.
    pub per_second: f64,
    pub parameters: u64,
    /// Number of training examples, counting repetitions.
    pub examples: u64,
    pub seconds: f64,
}

/// Kendall's tau-b on a set of positions, with its 95% interval.
#[derive(Deserialize)]
pub struct Tau {
    pub data: String,
    pub tau: f64,
    pub low: f64,
    pub high: f64,
}

/// The manifest of a results folder.
const MANIFEST: &str = "sources.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sources {
    games: BTreeMap<Kind, Vec<String>>,
    figures: Figures,
    players: Players,
}

/// The purpose of a file of games.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The beam at a fixed depth.
    Beam,
    /// Limited strength by `UCI_Elo`.
    Limited,
    /// Variants of the beam against the beam, both with the same time.
    BeamTime,
    /// Equal time for both sides.
    Timed,
    /// Against engines with published ratings.
    Gauntlet,
    /// Designed matches: every player switches off several techniques.
    Effects,
    /// The rivals: the other systems of the project's documents.
    Rivals,
    /// Games of a planner against itself, for the chances to win, draw and lose.
    Wdl,
    /// In no table.
    Checks,
}

/// Files of measurements by the command that prints them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figures {
    pub speed: Vec<String>,
    pub suites: Vec<String>,
    pub timed_suites: Vec<String>,
    pub accuracy: Vec<String>,
    pub rivals: Vec<String>,
    pub metrics: Vec<Metrics>,
    /// Files that feed no table.
    others: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    pub weights: String,
    pub file: String,
}

/// Players by their names in the game files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Players {
    /// The beams as shipped that their variants play against.
    pub beams: Vec<String>,
    /// Opponents of the rivals that get a column each.
    pub rivals_opponents: Vec<String>,
    /// The players that are the program as shipped, with their labels in the summary.
    pub shipped: BTreeMap<String, String>,
}

impl Sources {
    /// Reads the manifest of a folder. Fails if a file of the folder is not listed or is listed
    /// twice.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST);
        let name = || format!("'{}'", path.display());
        let text = std::fs::read_to_string(&path).with_context(name)?;
        let sources: Self = toml::from_str(&text).with_context(name)?;
        let mut listed = BTreeSet::new();
        for file in sources.files() {
            ensure!(listed.insert(file), "{}: '{file}' is listed twice", name());
        }
        for entry in std::fs::read_dir(folder)? {
            let file = file_name(&entry?.path());
            let is_source = [".pgn", ".pgn.zst", ".json"].iter().any(|end| file.ends_with(end));
            ensure!(
                !is_source || listed.contains(file.as_str()),
                "{}: '{file}' is not listed; name it under the tables that it is for",
                name()
            );
        }
        Ok(sources)
    }

    /// Files of games with their purpose, in the order of their names.
    pub fn games(&self) -> Vec<(&str, Kind)> {
        let of_kind = |(&kind, files)| -> Vec<(&str, Kind)> {
            let files: &Vec<String> = files;
            files.iter().map(|file| (file.as_str(), kind)).collect()
        };
        let mut games: Vec<(&str, Kind)> = self.games.iter().flat_map(of_kind).collect();
        games.sort_unstable();
        games
    }

    fn files(&self) -> impl Iterator<Item = &str> {
        let Figures { speed, suites, timed_suites, accuracy, rivals, metrics, others } =
            &self.figures;
        let figures = [speed, suites, timed_suites, accuracy, rivals, others].into_iter().flatten();
        let figures = figures.chain(metrics.iter().map(|metrics| &metrics.file));
        self.games.values().flatten().chain(figures).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use azimuth_search::WdlModel;

    use super::*;

    /// Twice the rounding of the coefficients: another machine may round differently.
    const TOLERANCE: f64 = 0.02;

    #[test]
    fn the_engine_has_the_fit_to_the_recorded_games() -> Result<()> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let fits = wdl_fits(&Results::read(&folder)?)?;
        assert_eq!(fits.len(), 2);
        for fit in fits {
            let WdlModel { even, width } = WdlModel::of(fit.planner);
            let known = [even, width].concat();
            for (known, found) in known.iter().zip([fit.model.even, fit.model.width].concat()) {
                assert!((known - found).abs() < TOLERANCE, "{known}: the fit has {found}");
            }
            assert!(fit.quality.brier < fit.before.brier);
            assert!(fit.quality.log_loss < fit.before.log_loss);
        }
        Ok(())
    }

    #[test]
    fn tables_are_replaced_and_the_rest_stays() -> Result<()> {
        let tables = [("a", "| 1 |\n".to_owned()), ("b", "| 2 |\n".to_owned())];
        let text = "x\n<!-- report:b -->\nold\n<!-- report:end -->\ny\n";
        let once = with_tables(text, &tables)?;
        assert_eq!(once, "x\n<!-- report:b -->\n| 2 |\n<!-- report:end -->\ny\n");
        assert_eq!(with_tables(&once, &tables)?, once);
        for (text, part) in [
            ("<!-- report:c -->\n<!-- report:end -->", "no table is called 'c'"),
            ("<!-- report:a -->\n", "is missing"),
        ] {
            let error = with_tables(text, &tables).expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
        Ok(())
    }

    const SOURCES: &str = r#"
        games = { beam = ["b.pgn", "a.pgn.zst"], checks = ["c.pgn"] }
        [figures]
        speed = ["s.json"]
        suites = []
        timed-suites = []
        accuracy = []
        rivals = []
        metrics = [{ weights = "w", file = "m.json" }]
        others = []
        [players]
        beams = []
        rivals-opponents = ["x", "y"]
        shipped = {}
    "#;

    #[test]
    fn every_file_is_listed_once() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        let error = || Sources::read(folder.path()).err().context("it was read");
        assert!(format!("{:#}", error()?).contains("sources.toml"));
        write(MANIFEST, SOURCES)?;
        write("notes.txt", "")?;
        write("m.json", "")?;
        let games = Sources::read(folder.path())?;
        let expected = [("a.pgn.zst", Kind::Beam), ("b.pgn", Kind::Beam), ("c.pgn", Kind::Checks)];
        assert_eq!(games.games(), expected);
        write("new.pgn.zst", "")?;
        assert!(error()?.to_string().contains("'new.pgn.zst' is not listed"));
        write(MANIFEST, &SOURCES.replace("s.json", "a.pgn.zst"))?;
        assert!(error()?.to_string().contains("'a.pgn.zst' is listed twice"));
        write(MANIFEST, &SOURCES.replace("checks", "cheques"))?;
        let said = format!("{:#}", error()?);
        assert!(said.contains("sources.toml") && said.contains("cheques"), "{said}");
        Ok(())
    }
}
