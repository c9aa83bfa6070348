//! `azimuth-bench report`: renders the results in `bench/results/` as tables in the documents and
//! as plots. `sources.toml` in that folder assigns the files to tables and names players.

mod results;
mod strength;
mod tables;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_cli::print_line;
use azimuth_network::replace_file::replace_file;
use clap::Args;
use results::{Kind, Results};
use strength::{Strength, effects_table, rivals_table, summary, variants_table};

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
    let Results { players, figures, .. } = &results;
    let of_kind = |kind| Strength::of(&results.matches, kind);
    let strength = of_kind(Kind::Beam)?;
    let limited = of_kind(Kind::Limited)?;
    let (timed, gauntlet) = (of_kind(Kind::Timed)?, of_kind(Kind::Gauntlet)?);
    let rivals = of_kind(Kind::Rivals)?;
    let fits = wdl_fits(&results)?;
    let speeds: Vec<SpeedResults> = results.parsed(&figures.speed)?;
    let suites: Vec<Vec<SuiteResults>> = results.parsed(&figures.suites)?;
    let timed_suites: Vec<Vec<TimedSuite>> = results.parsed(&figures.timed_suites)?;
    let (weights, metrics): (Vec<String>, Vec<String>) =
        figures.metrics.iter().map(|of| (of.weights.clone(), of.file.clone())).unzip();
    let mut plots = vec![
        ("elo-by-depth.svg".to_owned(), strength.plot_by_depth()?),
        ("speed-by-batch.svg".to_owned(), tables::speed_by_batch(&speeds)?),
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
        ("rivals", rivals_table(&results.parsed(&figures.rivals)?, &rivals, players)),
        ("effects", effects_table(&results.matches)?),
        ("levels", limited.level_table()),
        ("speed-summary", tables::speed_summary(&speeds)),
        ("encoders", tables::encoders(&speeds)),
        ("search", tables::searches(&speeds)),
        ("suites", tables::suites(&suites.concat())),
        ("timed-suites", tables::timed_suites(&timed_suites.concat())),
        ("accuracy", tables::accuracies(&results.parsed(&figures.accuracy)?)),
        ("wdl", tables::chances(&fits)),
        ("metrics", tables::metrics(&weights, &results.parsed(&metrics)?)?),
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
}
