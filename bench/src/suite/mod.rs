//! `azimuth-bench suite`: how many positions of best-move suites and puzzles are solved, by depth.

mod epd;
mod puzzles;
pub mod results;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use azimuth::inference::{Evaluator, Worker};
use azimuth::position::Position;
use azimuth::search::{Beam, BeamMode, BeamSettings, Control, Limits, Planner};
use azimuth::weights::{Weights, replace_file};
use clap::Args;
use cozy_chess::Move;

use crate::device::DeviceArguments;
use crate::elo::settings::file_name;
use results::{DepthRate, SuiteResults};

/// Score cache, in megabytes.
const CACHE: usize = 16;

/// Solve best-move suites (EPD with bm, am, and grades in c0) and lichess's puzzles (CSV), by depth.
#[derive(Args)]
pub struct Suite {
    /// .epd, .csv or .csv.zst files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// A weights file; the embedded weights where none is given.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Moves kept at a node.
    #[arg(long, default_value_t = 3)]
    width: usize,
    /// Deepest ply; every depth from 1 on is measured.
    #[arg(long, default_value_t = 6)]
    depth: u32,
    /// Look at the first so many problems of each file.
    #[arg(long)]
    first: Option<usize>,
    /// Write the figures here too.
    #[arg(long)]
    json: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

/// Solves, prints a line a depth, and writes the JSON.
pub fn run(arguments: &Suite) -> Result<()> {
    let (device, dtype) = arguments.device.open()?;
    ensure!(arguments.width > 0 && arguments.depth > 0, "--width and --depth: expected at least 1");
    let weights = Arc::new(Weights::read_or_embedded(arguments.weights.as_deref())?);
    let notice = |text: &str| eprintln!("azimuth-bench: {text}");
    let worker = Worker::start(weights, &device, dtype, Box::new(notice))?;
    let mut all = Vec::new();
    for file in &arguments.files {
        let problems = Problems::read(file, arguments.first.unwrap_or(usize::MAX))?;
        let name = file_name(file);
        let mut depths = Vec::new();
        for depth in 1..=arguments.depth {
            let settings = BeamSettings { width: arguments.width, depth, mode: BeamMode::Tree };
            let mut solver = Beam::new(Evaluator::new(&worker, CACHE)?, settings);
            let rate = problems.solve(depth, |position| choose(&mut solver, position))?;
            let points = rate.points.map_or(String::new(), |[points, most]| {
                format!(", {points} of {most} points ({:.1}%)", share(points, most))
            });
            println!(
                "{name}, width {}, depth {depth}: {} of {} solved ({:.1}%){points}",
                arguments.width,
                rate.solved,
                rate.problems,
                share(rate.solved, rate.problems)
            );
            depths.push(rate);
        }
        let mode = BeamMode::Tree.name().to_owned();
        all.push(SuiteResults { suite: name, width: arguments.width, mode, depths });
    }
    if let Some(path) = &arguments.json {
        replace_file(path, serde_json::to_string_pretty(&all)?.as_bytes())?;
    }
    Ok(())
}

/// The move of a search that remembers nothing.
fn choose(beam: &mut Beam, position: &Position) -> Result<Move> {
    beam.new_game();
    let mut control = Control::without_signals(Limits::default());
    let report = beam.search(position, &mut control, &mut |_| ())?;
    report.pv.first().copied().context("the search found no move")
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole as f64
}

enum Problems {
    Epd(Vec<epd::Problem>),
    Puzzles(Vec<puzzles::Puzzle>),
}

impl Problems {
    /// The first `count` problems of a file.
    fn read(path: &Path, count: usize) -> Result<Self> {
        let name = file_name(path);
        if name.ends_with(".csv") || name.ends_with(".csv.zst") {
            let mut puzzles = puzzles::read(path)?;
            puzzles.truncate(count);
            return Ok(Self::Puzzles(puzzles));
        }
        let mut problems = epd::read(path)?;
        problems.truncate(count);
        Ok(Self::Epd(problems))
    }

    fn solve(
        &self,
        depth: u32,
        mut choose: impl FnMut(&Position) -> Result<Move>,
    ) -> Result<DepthRate> {
        match self {
            Self::Epd(problems) => {
                let (mut solved, mut points, mut most) = (0, 0, 0);
                for problem in problems {
                    let mv = choose(&problem.position)?;
                    solved += u64::from(problem.is_solved_by(mv));
                    let (got, best) = problem.points(mv);
                    points += u64::from(got);
                    most += u64::from(best);
                }
                let graded = problems.iter().any(|problem| !problem.graded.is_empty());
                let points = graded.then_some([points, most]);
                Ok(DepthRate { depth, solved, problems: problems.len() as u64, points })
            }
            Self::Puzzles(puzzles) => {
                let mut solved = 0;
                for puzzle in puzzles {
                    solved += u64::from(puzzle.is_solved_by(&mut choose)?);
                }
                Ok(DepthRate { depth, solved, problems: puzzles.len() as u64, points: None })
            }
        }
    }
}
