//! The files under `bench/results/`, read.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

use super::rival_results::RivalResults;
use crate::accuracy::results::AccuracyResults;
use crate::elo::settings::file_name;
use crate::games::record::{self, GameRecord};
use crate::speed::results::SpeedResults;
use crate::suite::results::{SuiteResults, TimedSuite};

/// A PGN file's games.
pub struct Match {
    pub file: String,
    pub games: Vec<GameRecord>,
}

/// Everything that was measured.
pub struct Results {
    pub matches: Vec<Match>,
    pub speeds: Vec<SpeedResults>,
    pub suites: Vec<SuiteResults>,
    pub timed_suites: Vec<TimedSuite>,
    pub accuracies: Vec<AccuracyResults>,
    pub rivals: Vec<RivalResults>,
    /// By the file's name, as `azimuth-train eval --json` prints them.
    pub metrics: Vec<(String, serde_json::Value)>,
}

impl Results {
    /// Reads the files of a folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let name = || format!("results folder '{}'", folder.display());
        let entries = std::fs::read_dir(folder).with_context(name)?;
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>().with_context(name)?;
        paths.sort();
        let mut results = Self {
            matches: Vec::new(),
            speeds: Vec::new(),
            suites: Vec::new(),
            timed_suites: Vec::new(),
            accuracies: Vec::new(),
            rivals: Vec::new(),
            metrics: Vec::new(),
        };
        for path in paths {
            let file = file_name(&path);
            let is_json = file.ends_with(".json");
            if file.ends_with(".pgn") || file.ends_with(".pgn.zst") {
                let games = record::read_file(&path)?;
                results.matches.push(Match { file, games });
            } else if is_json && file.starts_with("speed") {
                results.speeds.push(read_json(&path)?);
            } else if is_json && file.starts_with("suite") {
                results.suites.extend(read_json::<Vec<SuiteResults>>(&path)?);
            } else if is_json && file.starts_with("timed-suite") {
                results.timed_suites.extend(read_json::<Vec<TimedSuite>>(&path)?);
            } else if is_json && file.starts_with("accuracy") {
                results.accuracies.push(read_json(&path)?);
            } else if is_json && file.starts_with("rival") {
                results.rivals.push(read_json(&path)?);
            } else if is_json && file.starts_with("metrics") {
                results.metrics.push((file, read_json(&path)?));
            }
        }
        Ok(results)
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path)?;
    serde_json::from_str(&text).with_context(|| format!("results file '{}'", path.display()))
}
