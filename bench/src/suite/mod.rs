//! `azimuth-bench suite`: number of solved problems of best-move suites and puzzles, by depth.

mod problems;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::Position;
use azimuth_cli::print_line;
use azimuth_network::replace_file::{check_output, replace_file};
use azimuth_search::inference::Worker;
use azimuth_search::names::name_of;
use azimuth_search::{
    BeamSettings, BeamVerify, Control, Limits, Planner, PlannerKind, PlannerSettings, Resources,
    TimeLimit,
};
use clap::Args;
use cozy_chess::Move;
use problems::Problems;
use serde::{Deserialize, Serialize};

use crate::device::{DeviceArguments, start_worker};
use crate::settings::file_name;

/// Solve best-move suites (EPD with bm, am, and grades in c0) and lichess puzzles (CSV), by depth
/// or in a fixed time.
#[derive(Args)]
pub struct Suite {
    /// Suites: .epd, .csv or .csv.zst files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Weights file [default: the default weights of the planner].
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Beam width: number of moves kept at each node.
    #[arg(long, default_value_t = 3)]
    width: usize,
    /// Maximum search depth, in plies; every depth from 1 is measured.
    #[arg(long, default_value_t = 6)]
    depth: u32,
    /// Time per move in milliseconds, instead of depths.
    #[arg(long)]
    movetime: Option<u64>,
    /// The search to measure.
    #[arg(long, value_enum, default_value_t = PlannerKind::Beam)]
    planner: PlannerKind,
    /// How the beam scores children: none (by their embeddings), quiescence, or a number of plies
    /// to search.
    #[arg(long, value_enum, default_value_t = BeamSettings::default().verify)]
    verify: BeamVerify,
    /// Also write the results to this JSON file.
    #[arg(long)]
    json: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

/// The caches and tables of each search, in megabytes, and its threads.
const RESOURCES: Resources = Resources { hash_mb: 16, threads: 1 };

/// Solves the problems, prints one line per depth or file, and writes the JSON.
pub fn run(arguments: &Suite) -> Result<()> {
    let (device, dtype) = arguments.device.open()?;
    ensure!(arguments.width > 0 && arguments.depth > 0, "--width and --depth: expected at least 1");
    if let Some(path) = &arguments.json {
        let inputs = arguments.files.iter().chain(&arguments.weights).map(PathBuf::as_path);
        check_output(path, &inputs.collect::<Vec<_>>())?;
    }
    let weights = Arc::new(
        settings(arguments)
            .default_weights(arguments.planner)
            .or_read(arguments.weights.as_deref())?,
    );
    let worker = start_worker(weights, &device, dtype)?;
    let json = match arguments.movetime {
        Some(milliseconds) => {
            serde_json::to_string_pretty(&timed(arguments, &worker, milliseconds)?)
        }
        None => serde_json::to_string_pretty(&by_depth(arguments, &worker)?),
    };
    if let Some(path) = &arguments.json {
        replace_file(path, json?.as_bytes())?;
    }
    Ok(())
}

fn by_depth(arguments: &Suite, worker: &Worker) -> Result<Vec<SuiteResults>> {
    let mut all = Vec::new();
    for file in &arguments.files {
        let (suite, problems) = (file_name(file), Problems::read(file)?);
        let mut depths = Vec::new();
        for depth in 1..=arguments.depth {
            let limits = Limits { depth: Some(depth), ..Limits::default() };
            let rate = solve(&problems, &mut *solver(arguments, worker)?, &limits)?;
            print_line(format_args!("{suite}, {}, depth {depth}: {rate}", described(arguments)))?;
            depths.push(DepthRate { depth, rate });
        }
        all.push(SuiteResults { suite, planner: described(arguments), depths });
    }
    Ok(all)
}

fn timed(arguments: &Suite, worker: &Worker, milliseconds: u64) -> Result<Vec<TimedSuite>> {
    let mut all = Vec::new();
    let time = Some(TimeLimit::exactly(Duration::from_millis(milliseconds)));
    let limits = Limits { time, ..Limits::default() };
    for file in &arguments.files {
        let (suite, problems) = (file_name(file), Problems::read(file)?);
        let rate = solve(&problems, &mut *solver(arguments, worker)?, &limits)?;
        let planner = described(arguments);
        print_line(format_args!("{suite}, {planner}, {milliseconds} ms: {rate}"))?;
        all.push(TimedSuite { suite, planner, milliseconds, rate });
    }
    Ok(all)
}

fn solver(arguments: &Suite, worker: &Worker) -> Result<Box<dyn Planner>> {
    settings(arguments).build(arguments.planner, worker, RESOURCES, None)
}

fn settings(arguments: &Suite) -> PlannerSettings {
    let Suite { width, verify, .. } = *arguments;
    let beam = BeamSettings { width, verify, ..BeamSettings::default() };
    PlannerSettings { beam, ..PlannerSettings::default() }
}

fn described(arguments: &Suite) -> String {
    match arguments.planner {
        PlannerKind::Beam if arguments.verify == BeamVerify::None => {
            format!("beam, width {}", arguments.width)
        }
        PlannerKind::Beam => {
            format!("beam, width {}, verify {}", arguments.width, name_of(&arguments.verify))
        }
        PlannerKind::Selective => "selective".to_owned(),
    }
}

/// The move of a search with empty tables.
fn choose(solver: &mut dyn Planner, position: &Position, limits: &Limits) -> Result<Move> {
    solver.new_game();
    let mut control = Control::without_signals(limits.clone());
    let report = solver.search(position, &mut control, &mut |_| ())?;
    report.pv.first().copied().context("the search found no move")
}

/// Solves all problems with the moves of a planner.
fn solve(problems: &Problems, solver: &mut dyn Planner, limits: &Limits) -> Result<Rate> {
    let mut choose = |position: &Position| choose(solver, position, limits);
    match problems {
        Problems::Epd(problems) => {
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
            Ok(Rate { solved, problems: problems.len() as u64, points })
        }
        Problems::Puzzles(puzzles) => {
            let mut solved = 0;
            for puzzle in puzzles {
                solved += u64::from(puzzle.is_solved_by(&mut choose)?);
            }
            Ok(Rate { solved, problems: puzzles.len() as u64, points: None })
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct SuiteResults {
    pub suite: String,
    pub planner: String,
    pub depths: Vec<DepthRate>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct DepthRate {
    pub depth: u32,
    #[serde(flatten)]
    pub rate: Rate,
}

/// One suite's solve rate in a fixed time per move.
#[derive(Debug, Serialize, Deserialize)]
pub struct TimedSuite {
    pub suite: String,
    pub planner: String,
    pub milliseconds: u64,
    #[serde(flatten)]
    pub rate: Rate,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Rate {
    pub solved: u64,
    pub problems: u64,
    /// Points scored and possible, if moves are graded.
    pub points: Option<[u64; 2]>,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: u64, whole: u64| part as f64 * 100.0 / whole as f64;
        let Self { solved, problems, points } = self;
        write!(f, "{solved} of {problems} solved ({:.1}%)", share(*solved, *problems))?;
        match points {
            None => Ok(()),
            Some([points, most]) => {
                write!(f, ", {points} of {most} points ({:.1}%)", share(*points, *most))
            }
        }
    }
}
