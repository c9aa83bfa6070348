//! The files in `bench/results/`, parsed.

use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

use super::rivals::RivalResults;
use super::sources::{Kind, Players, Sources};
use crate::accuracy::AccuracyResults;
use crate::games::record;
use crate::games::record::GameRecord;
use crate::speed::results::SpeedResults;
use crate::suite::{SuiteResults, TimedSuite};

/// A PGN file's games.
pub struct Match {
    pub file: String,
    pub kind: Kind,
    pub games: Vec<GameRecord>,
}

/// All results.
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
    /// Reads the files listed in a folder's manifest.
    pub fn read(folder: &Path) -> Result<Self> {
        let sources = Sources::read(folder)?;
        let mut matches = Vec::new();
        for (file, kind) in sources.games() {
            let games = record::read_file(&folder.join(file))?;
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
