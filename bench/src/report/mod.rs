//! `azimuth-bench report`: the results under `bench/results/` as the README's tables and as plots.

mod plots;
mod readme;
mod strength;
mod tables;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth::weights::replace_file;
use clap::Args;
use serde::de::DeserializeOwned;

use crate::elo::record::{self, GameRecord};
use crate::elo::settings::file_name;
use crate::speed::results::SpeedResults;
use crate::suite::results::{SuiteResults, TimedSuite};
use strength::Strength;

/// Write the README's tables and the plots from the results, or check that they are current.
///
/// Games are *.pgn and *.pgn.zst; speed*.json, suite*.json, timed-suite*.json and metrics*.json come from
/// `speed`, `suite`, `suite --movetime` and `azimuth-train eval`.
#[derive(Args)]
pub struct Report {
    /// Where the results are, and the plots go.
    #[arg(long, default_value = "bench/results")]
    results: PathBuf,
    /// The file with the tables, between `<!-- report:NAME -->` and `<!-- report:end -->`.
    #[arg(long, default_value = "README.md")]
    readme: PathBuf,
    /// Change nothing; fail where something is out of date.
    #[arg(long)]
    check: bool,
}

/// A PGN file's games.
pub struct Match {
    pub file: String,
    pub games: Vec<GameRecord>,
}

pub fn run(arguments: &Report) -> Result<()> {
    let results = Results::read(&arguments.results)?;
    let strength = Strength::full(&results.matches)?;
    let limited = Strength::limited(&results.matches)?;
    let plots = [
        ("elo-by-depth.svg", plots::elo_by_depth(&strength.by_depth())?),
        ("speed-by-batch.svg", plots::speed_by_batch(&results.speeds)?),
    ];
    let tables = [
        ("depth", strength.depth_table()),
        ("width", strength.width_table()),
        ("mode", strength.mode_table()),
        ("timed", Strength::timed(&results.matches)?.timed_table()),
        ("parts", Strength::parts(&results.matches)?.parts_table()),
        ("noise", limited.noise_table()),
        ("pairings", strength.pairing_table()),
        ("opponents", strength.opponent_table()),
        ("encoders", tables::encoders(&results.speeds)),
        ("search", tables::searches(&results.speeds)),
        ("suites", tables::suites(&results.suites)),
        ("timed-suites", tables::timed_suites(&results.timed_suites)),
        ("metrics", tables::metrics(&results.metrics)?),
    ];
    let readme = &arguments.readme;
    let name = || format!("'{}'", readme.display());
    let before = std::fs::read_to_string(readme).with_context(name)?;
    let after = readme::with_tables(&before, &tables).with_context(name)?;
    let mut files = vec![(readme.clone(), after)];
    files.extend(plots.map(|(name, plot)| (arguments.results.join(name), plot)));
    for (path, text) in files {
        let current = std::fs::read_to_string(&path).is_ok_and(|found| found == text);
        if arguments.check {
            ensure!(current, "'{}' is out of date; run azimuth-bench report", path.display());
        } else if !current {
            replace_file(&path, text.as_bytes())?;
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}

struct Results {
    matches: Vec<Match>,
    speeds: Vec<SpeedResults>,
    suites: Vec<SuiteResults>,
    timed_suites: Vec<TimedSuite>,
    /// By the file's name, as `azimuth-train eval --json` prints them.
    metrics: Vec<(String, serde_json::Value)>,
}

impl Results {
    fn read(folder: &Path) -> Result<Self> {
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
