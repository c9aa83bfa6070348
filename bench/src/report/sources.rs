//! `sources.toml` of a results folder: which file feeds which table, and what players are called.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::elo::settings::file_name;

/// The manifest's name.
const NAME: &str = "sources.toml";

/// The manifest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    games: BTreeMap<Kind, Vec<String>>,
    pub figures: Figures,
    pub players: Players,
}

/// What a file of games is for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The beam at a fixed depth.
    Beam,
    /// `UCI_Elo`.
    Limited,
    /// The same time for both sides.
    Timed,
    /// Against engines that rating lists know.
    Gauntlet,
    /// The selective search against itself without one technique.
    Parts,
    /// Designed matches: every player leaves out several techniques.
    Effects,
    /// The documents' other systems.
    Rivals,
    /// Listed, and not rated.
    Checks,
}

/// Files of figures by the command that prints them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figures {
    pub speed: Vec<String>,
    pub suites: Vec<String>,
    pub timed_suites: Vec<String>,
    pub accuracy: Vec<String>,
    pub rivals: Vec<String>,
    pub metrics: Vec<Metrics>,
    /// In no table.
    others: Vec<String>,
}

/// Held-out metrics of weights.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    pub weights: String,
    pub file: String,
}

/// Players by their names in the games.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Players {
    /// The selective search among the games of the beam.
    pub alone: BTreeSet<String>,
    /// Those that lack no technique.
    pub complete: BTreeSet<String>,
    /// The beam that rivals play against.
    pub rivals_beam: String,
    /// The selective search that rivals play against.
    pub rivals_selective: String,
    /// The program as it is built, with its names in the summary.
    pub shipped: BTreeMap<String, String>,
}

impl Sources {
    /// Reads the manifest of a folder. Fails where a file of the folder is not listed, or listed twice.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
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

    /// Files of games in the order of their names, with what they are for.
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

    const MANIFEST: &str = r#"
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
        alone = []
        complete = []
        rivals-beam = "x"
        rivals-selective = "y"
        shipped = {}
    "#;

    #[test]
    fn every_file_is_listed_once() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        let error = || Sources::read(folder.path()).err().context("it was read");
        assert!(format!("{:#}", error()?).contains("sources.toml"));
        write(NAME, MANIFEST)?;
        write("notes.txt", "")?;
        write("m.json", "")?;
        let games = Sources::read(folder.path())?;
        let expected = [("a.pgn.zst", Kind::Beam), ("b.pgn", Kind::Beam), ("c.pgn", Kind::Checks)];
        assert_eq!(games.games(), expected);
        write("new.pgn.zst", "")?;
        assert!(error()?.to_string().contains("'new.pgn.zst' is not listed"));
        write(NAME, &MANIFEST.replace("s.json", "a.pgn.zst"))?;
        assert!(error()?.to_string().contains("'a.pgn.zst' is listed twice"));
        write(NAME, &MANIFEST.replace("checks", "cheques"))?;
        let said = format!("{:#}", error()?);
        assert!(said.contains("sources.toml") && said.contains("cheques"), "{said}");
        Ok(())
    }
}
