//! `azimuth-bench report`: renders the results in `bench/results/` as tables in the documents and
//! as plots.

mod documents;
mod plots;
mod results;
mod rivals;
mod sources;
mod strength;
mod tables;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_cli::print_line;
use azimuth_network::replace_file::replace_file;
use clap::Args;
use documents::with_tables;
use results::Results;
use rivals::rivals_table;
use sources::Kind;
use strength::{Strength, effects_table, summary, variants_table};

use crate::wdl;

/// Folder of the results and of the plots.
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
    let limited = Strength::of_levels(&results.matches, &players.alone)?;
    let (timed, gauntlet) = (of_kind(Kind::Timed)?, of_kind(Kind::Gauntlet)?);
    let rivals = of_kind(Kind::Rivals)?;
    let fits = wdl_fits(&results)?;
    let mut plots = vec![
        (
            "elo-by-depth.svg".to_owned(),
            plots::elo_by_depth(&[false, true].map(|verified| strength.by_depth(verified)))?,
        ),
        ("speed-by-batch.svg".to_owned(), plots::speed_by_batch(&results.speeds)?),
    ];
    for fit in &fits {
        plots.push((fit.plot_name(), fit.chart()?));
    }
    let tables = [
        ("depth", strength.depth_table(false)),
        ("depth-verified", strength.depth_table(true)),
        ("alone", strength.alone_table(&players.alone)),
        ("beam-time", variants_table(&results.matches, &players.beams)),
        ("summary", summary(&[&timed, &gauntlet], &strength, &players.shipped)),
        ("timed", timed.timed_table()),
        ("gauntlet", gauntlet.gauntlet_table(&players.shipped)),
        ("rivals", rivals_table(&results.rivals, &rivals, players)),
        ("effects", effects_table(&results.matches)?),
        ("levels", limited.level_table()?),
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

/// The fits of the chances to win, draw and lose to the games of a results folder.
fn wdl_fits(results: &Results) -> Result<Vec<wdl::Fit>> {
    let played = results.matches.iter().filter(|played| played.kind == Kind::Wdl);
    wdl::fits(&played.flat_map(|played| &played.games).collect::<Vec<_>>())
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
}
