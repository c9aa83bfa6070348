//! The results that the tables and plots show, read from the folder that `sources.toml` describes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::games::{GameRecord, read_file};
use crate::settings::file_name;

pub struct Match {
    pub file: String,
    pub kind: Kind,
    pub games: Vec<GameRecord>,
}

/// The results of a folder.
pub struct Results {
    folder: PathBuf,
    /// In the order of the file names.
    pub matches: Vec<Match>,
    pub figures: Figures,
    pub players: Players,
}

impl Results {
    /// Reads the games listed in a folder's manifest that feed a table or plot.
    pub fn read(folder: &Path) -> Result<Self> {
        let sources = Sources::read(folder)?;
        let mut matches = Vec::new();
        for (file, kind) in sources.games().into_iter().filter(|(_, kind)| *kind != Kind::Checks) {
            let games = read_file(&folder.join(file))?;
            matches.push(Match { file: file.to_owned(), kind, games });
        }
        let Sources { figures, players, .. } = sources;
        Ok(Self { folder: folder.to_owned(), matches, figures, players })
    }

    /// The measurements in `files`, parsed.
    pub fn parsed<T: DeserializeOwned>(&self, files: &[String]) -> Result<Vec<T>> {
        let parse = |file: &String| {
            let path = self.folder.join(file);
            let name = || format!("results file '{}'", path.display());
            let text = std::fs::read_to_string(&path).with_context(name)?;
            serde_json::from_str(&text).with_context(name)
        };
        files.iter().map(parse).collect()
    }
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
    use super::*;

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
