//! `azimuth-bench report`: the results under `bench/results/` as the documents' tables and as plots.

mod documents;
mod plots;
mod results;
mod rival_results;
mod rivals;
mod strength;
mod tables;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use azimuth::command_line::print_line;
use azimuth_network::replace_file::replace_file;
use clap::Args;

use documents::with_tables;
use results::Results;
use rivals::rivals_table;
use strength::{Strength, summary};

/// Where the tables stand in this repository.
const DOCUMENTS: [&str; 4] =
    ["README.md", "bench/RESULTS.md", "docs/limited-strength.md", "rivals/README.md"];

/// Write the documents' tables and the plots from the results, or check that they are current.
///
/// Games are *.pgn and *.pgn.zst; speed*.json, suite*.json, timed-suite*.json, accuracy*.json and metrics*.json come
/// from `speed`, `suite`, `suite --movetime`, `accuracy` and `azimuth-train eval`, rival*.json from `azimuth-rivals tau`.
#[derive(Args)]
pub struct Report {
    /// Where the results are, and the plots go.
    #[arg(long, default_value = "bench/results")]
    results: PathBuf,
    /// A file with tables, between `<!-- report:NAME -->` and `<!-- report:end -->`; any number of them.
    #[arg(long = "document", value_name = "FILE", default_values = DOCUMENTS)]
    documents: Vec<PathBuf>,
    /// Change nothing; fail where something is out of date.
    #[arg(long)]
    check: bool,
}

pub fn run(arguments: &Report) -> Result<()> {
    let results = Results::read(&arguments.results)?;
    let strength = Strength::full(&results.matches)?;
    let limited = Strength::limited(&results.matches)?;
    let timed = Strength::timed(&results.matches)?;
    let gauntlet = Strength::gauntlet(&results.matches)?;
    let rivals = Strength::rivals(&results.matches)?;
    let plots = [
        (
            "elo-by-depth.svg",
            plots::elo_by_depth(&[false, true].map(|verified| strength.by_depth(verified)))?,
        ),
        ("speed-by-batch.svg", plots::speed_by_batch(&results.speeds)?),
    ];
    let tables = [
        ("depth", strength.depth_table(false)),
        ("depth-verified", strength.depth_table(true)),
        ("alone", strength.alone_table()),
        ("width", strength.width_table()),
        ("mode", strength.mode_table()),
        ("summary", summary(&[&timed, &gauntlet], &strength)),
        ("timed", timed.timed_table()),
        ("gauntlet", gauntlet.gauntlet_table()),
        ("rivals", rivals_table(&results.rivals, &rivals)),
        ("parts", Strength::parts(&results.matches)?.parts_table()),
        ("effects", Strength::effects_table(&results.matches)?),
        ("noise", limited.noise_table()),
        ("pairings", strength.pairing_table()),
        ("opponents", strength.opponent_table()),
        ("speed-summary", tables::speed_summary(&results.speeds)),
        ("encoders", tables::encoders(&results.speeds)),
        ("search", tables::searches(&results.speeds)),
        ("suites", tables::suites(&results.suites)),
        ("timed-suites", tables::timed_suites(&results.timed_suites)),
        ("accuracy", tables::accuracies(&results.accuracies)),
        ("metrics", tables::metrics(&results.metrics)?),
    ];
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for document in &arguments.documents {
        let name = || format!("'{}'", document.display());
        let before = std::fs::read_to_string(document).with_context(name)?;
        files.push((document.clone(), with_tables(&before, &tables).with_context(name)?));
    }
    files.extend(plots.map(|(name, plot)| (arguments.results.join(name), plot)));
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
