//! A sweep: runs listed in a file, one after another, games of their weights, and a table of their
//! results.

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::replace_file::{read_if_exists, replace_file};
use azimuth_network::weights::Weights;
use candle_core::DType;
use clap::{ArgAction, Args, FromArgMatches};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::data::dataset::{Dataset, LabelledPositions, read_all};
use crate::metrics::Metrics;
use crate::options::{DataOptions, TrainOptions};
use crate::ranks::Alone;
use crate::run;
use crate::space::{Measured, evaluate};
use crate::training::Checkpoint;

/// Options of a sweep.
#[derive(Args)]
pub struct SweepOptions {
    /// File of the runs: lines of `name: options of train`, quoted as in a shell; `#` starts a
    /// comment.
    #[arg(long)]
    runs: PathBuf,
    /// Folder for weights, results and `table.md`; runs with a result in it are skipped.
    #[arg(long)]
    folder: PathBuf,
    /// Further data to measure on; all of its games are used.
    #[arg(long)]
    measure: Option<PathBuf>,
    #[command(flatten)]
    games: GameOptions,
    /// Options of train for all runs; options of a single run override them.
    #[arg(last = true)]
    shared: Vec<String>,
}

/// The stored result of a run.
#[derive(Serialize, Deserialize)]
struct Row {
    name: String,
    /// The run's options, without the shared ones.
    options: String,
    /// `None` in results of versions that did not store it.
    shared: Option<Shared>,
    measured: Measured,
    elsewhere: Option<Metrics>,
    games: Option<MatchResult>,
    steps: u64,
    /// `None` if all steps were done before an interruption.
    positions_per_second: Option<f64>,
}

/// The options of a sweep that its metrics depend on.
#[derive(Serialize, Deserialize)]
struct Shared {
    train: String,
    /// The value of `--measure`; empty without the option.
    measure: String,
    /// The value of `--games` and the options of the games; empty without games.
    games: String,
}

impl Shared {
    fn of(options: &SweepOptions) -> Result<Self> {
        let measure = options.measure.as_ref().map(|path| path.display().to_string());
        Ok(Self {
            train: shlex::try_join(options.shared.iter().map(String::as_str))?,
            measure: measure.unwrap_or_default(),
            games: options.games.words(),
        })
    }
}

impl SweepOptions {
    /// Whether the shared options select the sparse encoder on the CPU, the defaults.
    pub fn is_sparse_on_cpu(&self) -> bool {
        let names = ["--encoder", "--device"];
        !self.shared.iter().any(|word| names.iter().any(|name| word.starts_with(name)))
    }
}

/// Trains all runs that have no result yet, and rewrites the table after each.
pub fn sweep(options: &SweepOptions) -> Result<()> {
    let name = || format!("--runs '{}'", options.runs.display());
    let text = std::fs::read_to_string(&options.runs).with_context(name)?;
    let lines = parse_runs(&text).with_context(name)?;
    let result = |name: &str| options.folder.join(format!("{name}.json"));
    let shared = Shared::of(options)?;
    // All runs are checked before hours are spent on the first.
    for (name, own) in &lines {
        let parsed = parse_run(name, own, options)?;
        parsed.config().with_context(|| format!("run '{name}'"))?;
        read_row(&result(name), own, &shared)?;
    }
    options.games.check()?;
    std::fs::create_dir_all(&options.folder)?;
    let measure = options.measure.as_ref();
    let elsewhere = measure.map(|path| read_all(std::slice::from_ref(path), usize::MAX));
    let elsewhere = elsewhere.transpose()?;
    let mut data: Option<(DataOptions, Dataset)> = None;
    let mut rows = Vec::new();
    for (name, own) in &lines {
        let result = result(name);
        let row = match read_row(&result, own, &shared)? {
            Some(row) => row,
            None => {
                say(format_args!("run '{name}'"));
                run_one(name, own, options, elsewhere.as_ref(), &mut data, &result)?
            }
        };
        rows.push(row);
        replace_file(&options.folder.join("table.md"), table(&rows).as_bytes())?;
    }
    print_line(table(&rows).trim_end())?;
    Ok(())
}

fn parse_runs(text: &str) -> Result<Vec<(String, String)>> {
    let mut runs: Vec<(String, String)> = Vec::new();
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, own) =
            line.split_once(':').with_context(|| format!("'{line}': expected 'name: options'"))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        ensure!(
            !name.is_empty() && name.chars().all(plain),
            "run '{name}': a name is of letters, digits and - _ . +, for it names files"
        );
        ensure!(!runs.iter().any(|run| run.0 == name), "run '{name}': there are two of them");
        runs.push((name.to_owned(), own.trim().to_owned()));
    }
    ensure!(!runs.is_empty(), "no runs in it");
    Ok(runs)
}

fn parse_run(name: &str, own: &str, options: &SweepOptions) -> Result<TrainOptions> {
    let own = shlex::split(own).with_context(|| format!("run '{name}': a quote is not closed"))?;
    let out = options.folder.join(format!("{name}.safetensors")).to_string_lossy().into_owned();
    let words = ["train".to_owned(), "--out".to_owned(), out].into_iter();
    let words = words.chain(options.shared.iter().cloned()).chain(own);
    let command = TrainOptions::command().args_override_self(true);
    // By default, the values of a list add up.
    let command = command.mut_arg("data", |data| data.action(ArgAction::Set));
    let matches = command.try_get_matches_from(words);
    let one_line = |error: clap::Error| {
        let text = error.to_string();
        anyhow::anyhow!("run '{name}': {}", text.lines().next().unwrap_or_default())
    };
    let matches = matches.map_err(one_line)?;
    let mut parsed = TrainOptions::from_arg_matches(&matches).map_err(one_line)?;
    // Results say with which options they were made, but not what a file contained.
    ensure!(parsed.config.is_none(), "run '{name}': --config; write its options in the line");
    parsed.remember(&matches);
    Ok(parsed)
}

/// Trains, measures and plays a run, and writes its result to the file `result`.
fn run_one(
    name: &str,
    own: &str,
    options: &SweepOptions,
    elsewhere: Option<&LabelledPositions>,
    data: &mut Option<(DataOptions, Dataset)>,
    result: &Path,
) -> Result<Row> {
    let parsed = parse_run(name, own, options)?;
    let compute = parsed.compute(0)?;
    let _claims = parsed.claim()?;
    let (architecture, device) = (parsed.architecture()?, &compute.device);
    // The default sample depends on the encoder and the device.
    let sample = parsed.data.sample_size(&architecture, device)?;
    let kept = data.take();
    let kept = kept.filter(|(read, dataset)| *read == parsed.data && dataset.sample == sample);
    let read = || anyhow::Ok((parsed.data.clone(), parsed.data.read(&architecture, device)?));
    let (_, dataset) = data.insert(kept.map_or_else(read, Ok)?);
    let config = Config { data: dataset.files.clone(), ..parsed.config()? };
    let output = parsed.output();
    let outcome = run::train_encoder(&config, dataset, &compute, &output, &Alone)?;
    let outcome = outcome.with_context(|| format!("run '{name}': --stop-after has no use here"))?;
    let evaluated = |games: &LabelledPositions| {
        let weights = Weights::read(&output.weights)?;
        let mut encoder = azimuth_search::encoder::build(&weights, device, DType::F32)?;
        evaluate(&mut *encoder, &weights, games)
    };
    let elsewhere = elsewhere.map(evaluated).transpose()?;
    let games = options.games.play(name, &output.weights)?;
    let row = Row {
        name: name.to_owned(),
        options: own.to_owned(),
        shared: Some(Shared::of(options)?),
        measured: outcome.measured,
        elsewhere,
        games,
        steps: outcome.steps,
        positions_per_second: outcome.speed,
    };
    replace_file(result, &serde_json::to_vec_pretty(&row)?)?;
    // A kill before this point leaves the checkpoint, so that the training is not repeated.
    Checkpoint::remove(&output.checkpoint)?;
    Ok(row)
}

/// Reads the result of a run; `None` if there is none. Fails if it was made with other options.
fn read_row(path: &Path, own: &str, now: &Shared) -> Result<Option<Row>> {
    let name = || format!("result '{}'", path.display());
    let Some(bytes) = read_if_exists(path).with_context(name)? else { return Ok(None) };
    let remedy = "delete the files of the run, rename the run or choose another --folder";
    let unreadable = || format!("{}: damaged, or made by another version; {remedy}", name());
    let row: Row = serde_json::from_slice(&bytes).with_context(unreadable)?;
    let unknown = || format!("{}: made with unknown shared options; {remedy}", name());
    let before = row.shared.as_ref().with_context(unknown)?;
    for (what, before, now) in [
        ("the options", row.options.as_str(), own),
        ("the shared options", &before.train, &now.train),
        ("--measure", &before.measure, &now.measure),
        ("--games", &before.games, &now.games),
    ] {
        let name = name();
        ensure!(before == now, "{name}: made with {what} '{before}' (now '{now}'); {remedy}");
    }
    Ok(Some(row))
}

fn table(rows: &[Row]) -> String {
    let mut text = "| run | options | tau-b | sibling | R² | by mates: tau-b | sibling | \
                    other games: tau-b | sibling | Elo | steps | positions/s |\n\
                    |---|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        let Measured { plays, mates, .. } = row.measured;
        let elsewhere = row.elsewhere.map_or(" | ".to_owned(), |metrics| {
            format!("{:.4} | {:.4}", metrics.tau, metrics.sibling)
        });
        let elo = row.games.as_ref().map(MatchResult::to_string).unwrap_or_default();
        let speed = row.positions_per_second.map(|speed| format!("{speed:.0}")).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | `{}` | {:.4} | {:.4} | {:.4} | {:.4} | {:.4} | {elsewhere} | {elo} | {} | {speed} |",
            row.name,
            row.options,
            plays.tau,
            plays.sibling,
            plays.r2,
            mates.tau,
            mates.sibling,
            row.steps
        );
    }
    text
}

/// Games to play after training.
#[derive(Args)]
pub struct GameOptions {
    /// Number of games of the selective search with each run's weights against the built-in ones,
    /// an even number; needs `azimuth-bench` in the same folder as this program.
    #[arg(long, default_value_t = 0)]
    games: u32,
    /// Openings: EPD or FEN, one per line, plain or zipped.
    #[arg(long)]
    book: Option<PathBuf>,
    /// Nodes per move for both sides, so that neither clock nor speed affects the result.
    #[arg(long, default_value_t = 3_000)]
    nodes: u64,
}

/// Result of the games from the new weights' point of view.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatchResult {
    wins: u64,
    losses: u64,
    draws: u64,
    /// Elo difference and the half-width of its 95% interval; none if unbounded.
    elo: Option<[f64; 2]>,
}

impl GameOptions {
    /// Checks that the games can be played, before training starts.
    pub fn check(&self) -> Result<()> {
        if self.games > 0 {
            let games = self.games;
            ensure!(games.is_multiple_of(2), "--games {games}: expected an even number");
            ensure!(self.book.is_some(), "--games needs --book, the openings");
            bench_program()?;
        }
        Ok(())
    }

    /// The options in words; empty without games.
    pub fn words(&self) -> String {
        let Self { games, book, nodes } = self;
        let book = book.as_ref().map(|path| format!(" --book {}", path.display()));
        match games {
            0 => String::new(),
            _ => format!("{games}{} --nodes {nodes}", book.unwrap_or_default()),
        }
    }

    /// Plays the games of `weights` and writes their PGN next to them; `None` without `--games`.
    pub fn play(&self, name: &str, weights: &Path) -> Result<Option<MatchResult>> {
        let (Some(book), true) = (&self.book, self.games > 0) else { return Ok(None) };
        let json = weights.with_extension("games.json");
        let player = |name: &str| format!("planner=selective nodes={} name={name}", self.nodes);
        let path = weights.to_string_lossy();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let output = Command::new(bench_program()?)
            .args(["elo", "--games", &self.games.to_string(), "--player"])
            .arg(format!("{} weights={}", player(name), shlex::try_quote(&path)?))
            .args(["--against", &player("opponent"), "--concurrency", &threads.to_string()])
            .args([OsStr::new("--book"), book.as_os_str()])
            .args([OsStr::new("--pgn"), weights.with_extension("pgn").as_os_str()])
            .args([OsStr::new("--json"), json.as_os_str()])
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().last().unwrap_or("no games");
        ensure!(output.status.success(), "run '{name}': {reason}");
        let results: Vec<MatchResult> = serde_json::from_slice(&std::fs::read(&json)?)?;
        std::fs::remove_file(&json)?;
        let result = results.into_iter().next().context("the match has no result")?;
        say(format_args!("run '{name}': {result} Elo in {} games", self.games));
        Ok(Some(result))
    }
}

/// `+12 ± 34`.
impl fmt::Display for MatchResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.elo {
            Some([elo, error]) => write!(f, "{elo:+.0} ± {error:.0}"),
            None => write!(f, "+{} -{} ={}", self.wins, self.losses, self.draws),
        }
    }
}

fn bench_program() -> Result<PathBuf> {
    let bench = std::env::current_exe()?
        .with_file_name(format!("azimuth-bench{}", std::env::consts::EXE_SUFFIX));
    ensure!(bench.is_file(), "--games: '{}' is missing; build the workspace", bench.display());
    Ok(bench)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        sweep: SweepOptions,
    }

    #[test]
    fn options_of_a_run_override_the_shared_ones() -> Result<()> {
        let line =
            "sweep --runs runs.txt --folder runs -- --data a.azd b.azd --steps 300 --no-mirror";
        let options = Line::try_parse_from(line.split(' '))?.sweep;
        let shared = parse_run("shared", "", &options)?;
        assert_eq!(shared.data.data, ["a.azd", "b.azd"].map(PathBuf::from));
        let own = parse_run("own", "--data c.azd --steps 9", &options)?;
        assert_eq!(own.data.data, ["c.azd"].map(PathBuf::from));
        let config = own.config()?;
        assert_eq!((config.schedule.steps, config.sampling.mirror), (9, false));
        let error = parse_run("file", "--config x.toml", &options).err().context("refused")?;
        assert!(error.to_string().contains("run 'file': --config; write its options"), "{error}");
        Ok(())
    }

    #[test]
    fn runs_are_named_once_and_plainly() {
        let runs = parse_runs("# nothing\n\na: --delta 0.1\nb:\n").expect("two runs");
        assert_eq!(runs, [("a", "--delta 0.1"), ("b", "")].map(|(n, o)| (n.into(), o.into())));
        for bad in ["", "a --delta 1", "a:\na:", "../a: --delta 1"] {
            assert!(parse_runs(bad).is_err(), "{bad}");
        }
    }
}
