//! Kendall's tau (seed document 004, section 4.1) between labels and the values of a rival, or the
//! cosines of Azimuth's encoder. For a rival that predicts only moves, the label of the position
//! after its move replaces the value.

mod bootstrap;
mod labelled;
mod subject;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use azimuth::command_line::print_line;
use azimuth::search::{Control, Limits, Planner, TimeLimit};
use clap::Args;
use serde::Serialize;

use bootstrap::{Interval, interval};
use labelled::{Labelled, read};
use subject::Subject;

/// Number of positions for measuring speed, and the search time for each.
const SPEED_POSITIONS: usize = 30;
const SPEED_TIME: Duration = Duration::from_millis(100);

/// Measure Kendall's tau of a rival, or of Azimuth's encoder, on labelled positions, and its search
/// speed.
#[derive(Args)]
pub struct TauOptions {
    /// Rival to measure, or `azimuth`.
    #[arg(value_enum)]
    subject: Subject,
    /// Labelled positions, each file measured separately; a rival that predicts only moves also
    /// needs the labels of all their moves.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Weights file [default: the shipped weights; for `azimuth`, those of the beam].
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Print the results as one line of JSON at the end.
    #[arg(long)]
    json: bool,
}

/// The results of a measurement.
#[derive(Serialize)]
struct Measured {
    /// Name of the rival; for Azimuth, with the name of the weights file.
    rival: String,
    taus: Vec<Tau>,
    /// Nodes per second of search.
    per_second: f64,
    /// Number of values in the weights.
    parameters: usize,
    /// Number of training examples, counted with repetition.
    examples: u64,
    /// Training time in seconds.
    seconds: f64,
}

/// Kendall's tau-b on the positions of a file.
#[derive(Serialize)]
struct Tau {
    /// Name of the file without its extensions.
    data: String,
    positions: usize,
    tau: f64,
    /// The 95% interval.
    #[serde(flatten)]
    interval: Interval,
}

/// Measures and prints.
pub fn run(options: &TauOptions) -> Result<()> {
    let weights = options.weights.as_deref();
    let mut measure = options.subject.measure(weights)?;
    let mut taus = Vec::new();
    let mut speed_positions = Vec::new();
    for path in &options.data {
        let positions = read(path)?;
        let labels: Vec<f32> = positions.iter().map(|position| position.label).collect();
        let values: Result<Vec<f32>> = positions.iter().map(|p| measure.value(p)).collect();
        let (tau, interval) = interval(&values?, &labels);
        let Interval { low, high } = interval;
        print_line(format_args!("{}", path.display()))?;
        print_line(format_args!("  positions         {:>10}", positions.len()))?;
        print_line(format_args!("  Kendall tau-b     {tau:>10.4}   95%: {low:.4} to {high:.4}"))?;
        taus.push(Tau { data: stem(path), positions: positions.len(), tau, interval });
        let missing = SPEED_POSITIONS.saturating_sub(speed_positions.len());
        speed_positions.extend(positions.into_iter().take(missing));
    }
    let per_second = speed(&mut *measure.planner, &speed_positions)?;
    print_line(format_args!("positions a second  {per_second:>10.0}"))?;
    if options.json {
        let training = options.subject.training(weights)?;
        let measured = Measured {
            rival: options.subject.name(weights),
            taus,
            per_second,
            parameters: training.parameters,
            examples: training.examples,
            seconds: training.seconds,
        };
        print_line(serde_json::to_string(&measured)?)?;
    }
    Ok(())
}

/// The name of a file without its extensions.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Nodes per second of search.
fn speed(planner: &mut dyn Planner, positions: &[Labelled]) -> Result<f64> {
    let (mut nodes, mut seconds) = (0, 0.0);
    for labelled in positions {
        let time = Some(TimeLimit { soft: SPEED_TIME, hard: SPEED_TIME });
        let mut control = Control::without_signals(Limits { time, ..Limits::default() });
        let report = planner.search(&labelled.position, &mut control, &mut |_| ())?;
        nodes += report.nodes;
        seconds += control.elapsed().as_secs_f64();
    }
    Ok(nodes as f64 / seconds)
}
