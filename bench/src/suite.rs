//! `azimuth-bench suite`: number of solved problems of best-move suites and puzzles, by depth.
//!
//! The problems of suites: EPD and Lichess puzzles.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_chess::notation::{Language, read_marks, read_move};
use azimuth_chess::pgn::{decompressed, is_compressed, lines_of, read_text};
use azimuth_chess::position::{Ending, Position, operations_of, split_operations};
use azimuth_chess::san::parse_move;
use azimuth_cli::print_line;
use azimuth_search::inference::Worker;
use azimuth_search::names::name_of;
use azimuth_search::{
    BeamSettings, BeamVerify, Control, Limits, Planner, PlannerKind, PlannerSettings, Resources,
    TimeLimit,
};
use clap::Args;
use cozy_chess::Move;
use serde::{Deserialize, Serialize};

use crate::arguments::{DeviceArguments, JsonFile, start_worker};
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
    #[command(flatten)]
    json: JsonFile,
    #[command(flatten)]
    device: DeviceArguments,
}

/// The caches and tables of each search, in megabytes, and its threads.
const RESOURCES: Resources = Resources { hash_mb: 16, threads: 1 };

/// Solves the problems, prints one line per depth or file, and writes the JSON.
pub fn run(arguments: &Suite) -> Result<()> {
    let (device, dtype) = arguments.device.open()?;
    ensure!(arguments.depth > 0, "--depth: expected at least 1");
    let inputs = arguments.files.iter().chain(&arguments.weights);
    arguments.json.check(&inputs.collect::<Vec<_>>())?;
    let weights = Arc::new(
        settings(arguments)
            .default_weights(arguments.planner)
            .or_read(arguments.weights.as_deref())?,
    );
    let worker = start_worker(weights, &device, dtype)?;
    match arguments.movetime {
        Some(milliseconds) => arguments.json.write(&timed(arguments, &worker, milliseconds)?),
        None => arguments.json.write(&by_depth(arguments, &worker)?),
    }
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
    let beam = BeamSettings { verify: arguments.verify, ..BeamSettings::default() };
    PlannerSettings { beam, ..PlannerSettings::default() }
}

fn described(arguments: &Suite) -> String {
    let width = settings(arguments).beam.width;
    match arguments.planner {
        PlannerKind::Beam if arguments.verify == BeamVerify::None => format!("beam, width {width}"),
        PlannerKind::Beam => {
            format!("beam, width {width}, verify {}", name_of(&arguments.verify))
        }
        PlannerKind::Selective => "selective".to_owned(),
    }
}

/// Solves all problems with the moves of a planner, whose tables are empty before each.
fn solve(problems: &Problems, solver: &mut dyn Planner, limits: &Limits) -> Result<Rate> {
    let mut choose = |position: &Position| {
        solver.new_game();
        let mut control = Control::without_signals(limits.clone());
        let report = solver.search(position, &mut control, &mut |_| ())?;
        report.pv.first().copied().context("the search found no move")
    };
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

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SuiteResults {
    pub suite: String,
    pub planner: String,
    pub depths: Vec<DepthRate>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DepthRate {
    pub depth: u32,
    #[serde(flatten)]
    pub rate: Rate,
}

/// One suite's solve rate in a fixed time per move.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimedSuite {
    pub suite: String,
    pub planner: String,
    pub milliseconds: u64,
    #[serde(flatten)]
    pub rate: Rate,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// The problems of a file.
enum Problems {
    Epd(Vec<Problem>),
    Puzzles(Vec<Puzzle>),
}

impl Problems {
    /// Reads puzzles (`.csv`, plain or compressed) or a suite (any other name). Fails, with the number of
    /// the line or puzzle, at an illegal position or move, and at a problem that asks for no move.
    fn read(path: &Path) -> Result<Self> {
        let plain = if is_compressed(path) { path.with_extension("") } else { path.to_owned() };
        let is_csv = plain.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        Ok(match is_csv {
            true => Self::Puzzles(read_puzzles(path)?),
            false => Self::Epd(read_suite(path)?),
        })
    }
}

/// A line of a best-move suite: EPD with `bm` or `am`, and graded moves in `c0` as in the Strategic
/// Test Suite.
#[derive(Debug)]
struct Problem {
    position: Position,
    /// Moves that solve the problem (`bm`); may be empty.
    best: Vec<Move>,
    /// Moves to avoid (`am`).
    avoid: Vec<Move>,
    /// Moves with points, if the problem grades moves.
    graded: Vec<(Move, u32)>,
}

impl Problem {
    fn is_solved_by(&self, mv: Move) -> bool {
        (self.best.is_empty() || self.best.contains(&mv)) && !self.avoid.contains(&mv)
    }

    /// Points for a move, and the maximum. Without grades, a solution counts 1.
    fn points(&self, mv: Move) -> (u32, u32) {
        match self.graded.iter().map(|(_, points)| *points).max() {
            None => (u32::from(self.is_solved_by(mv)), 1),
            Some(most) => {
                let found = self.graded.iter().find(|(graded, _)| *graded == mv);
                (found.map_or(0, |(_, points)| *points), most)
            }
        }
    }
}

fn read_suite(path: &Path) -> Result<Vec<Problem>> {
    let name = || format!("suite '{}'", path.display());
    let text = read_text(path).context("suite")?;
    let problems: Vec<Problem> = lines_of(&text)
        .map(|(number, line)| problem(&line).with_context(|| format!("{}, line {number}", name())))
        .collect::<Result<_>>()?;
    ensure!(!problems.is_empty(), "{}: no positions in it", name());
    Ok(problems)
}

fn problem(line: &str) -> Result<Problem> {
    let (fen, rest) = split_operations(line);
    let position = Position::from_fen(&fen)?;
    let (mut best, mut avoid, mut graded) = (Vec::new(), Vec::new(), Vec::new());
    for operation in operations_of(&rest) {
        let (name, operand) = operation.split_once(char::is_whitespace).unwrap_or((operation, ""));
        match name {
            "bm" => best = moves(&position, operand)?,
            "am" => avoid = moves(&position, operand)?,
            "c0" if is_graded(operand) => graded = grades(&position, operand)?,
            _ => {}
        }
    }
    ensure!(!best.is_empty() || !avoid.is_empty(), "neither bm nor am");
    Ok(Problem { position, best, avoid, graded })
}

fn moves(position: &Position, operand: &str) -> Result<Vec<Move>> {
    operand.split_whitespace().map(|san| parse_move(position, san)).collect()
}

/// Whether a comment is a list of graded moves, `"f5=10, Be5+=2"`, not a text such as `"x = y"`,
/// `"depth=20"` or the promotion `"e8=Q"`.
fn is_graded(comment: &str) -> bool {
    let first = comment.trim_matches('"').split(',').next().unwrap_or_default().trim();
    first.rsplit_once('=').is_some_and(|(san, grade)| {
        let marks = read_move(san, Language::ENGLISH).and_then(|(_, marks)| read_marks(marks));
        let is_text =
            grade.contains(char::is_whitespace) || grade.starts_with(['Q', 'R', 'B', 'N']);
        marks.is_some() && !is_text
    })
}

/// Reads `"f5=10, Be5+=2"`. The last `=` separates, because promotions contain one too.
fn grades(position: &Position, operand: &str) -> Result<Vec<(Move, u32)>> {
    let graded = operand.trim_matches('"').split(',').map(|part| {
        let (san, points) =
            part.trim().rsplit_once('=').with_context(|| format!("'{part}': not a grade"))?;
        let points = points.parse().ok().with_context(|| format!("'{part}': not a grade"))?;
        Ok((parse_move(position, san)?, points))
    });
    graded.collect()
}

/// A Lichess puzzle: positions with the only correct move, in order. In the file, the first move is
/// the opponent's. The solver must find all of its moves, but any mate is accepted.
#[derive(Debug)]
struct Puzzle {
    steps: Vec<(Position, Move)>,
}

impl Puzzle {
    /// Whether `choose` finds every move.
    fn is_solved_by(&self, mut choose: impl FnMut(&Position) -> Result<Move>) -> Result<bool> {
        for (position, expected) in &self.steps {
            let mv = choose(position)?;
            if mv == *expected {
                continue;
            }
            return Ok(matches!(position.after(mv).ending(), Some(Ending::Checkmate { .. })));
        }
        Ok(true)
    }
}

fn read_puzzles(path: &Path) -> Result<Vec<Puzzle>> {
    let name = || format!("puzzles '{}'", path.display());
    let file = File::open(path).with_context(name)?;
    let mut rows = csv::Reader::from_reader(decompressed(path, file).with_context(name)?);
    let header = rows.headers().with_context(name)?.clone();
    let column = |title: &str| {
        let place = header.iter().position(|found| found == title);
        place.with_context(|| format!("{}: no column '{title}'", name()))
    };
    let (fen, moves) = (column("FEN")?, column("Moves")?);
    let mut puzzles = Vec::new();
    for row in rows.records() {
        let row = row.with_context(name)?;
        let puzzle = puzzle(&row[fen], &row[moves])
            .with_context(|| format!("{}, puzzle {}", name(), puzzles.len() + 1))?;
        puzzles.push(puzzle);
    }
    ensure!(!puzzles.is_empty(), "{}: no puzzles in it", name());
    Ok(puzzles)
}

fn puzzle(fen: &str, moves: &str) -> Result<Puzzle> {
    let mut position = Position::from_fen(fen)?;
    let mut steps = Vec::new();
    for (ply, text) in moves.split_whitespace().enumerate() {
        let mv = position.parse_move(text)?;
        if ply % 2 == 1 {
            steps.push((position.clone(), mv));
        }
        position.play(mv);
    }
    ensure!(!steps.is_empty(), "no move to find in '{moves}'");
    Ok(Puzzle { steps })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "1kr5/3n4/q3p2p/p2n2p1/PppB1P2/5BP1/1P2Q2P/3R2K1 w - - bm f5; \
                        id \"a; b\"; c0 \"f5=10, Be5+=2, Bf2=3\";";

    #[test]
    fn moves_and_grades_are_read() -> Result<()> {
        let problem = problem(LINE)?;
        let mv = |text| problem.position.parse_move(text);
        assert!(problem.is_solved_by(mv("f4f5")?) && !problem.is_solved_by(mv("d4e5")?));
        assert_eq!(problem.points(mv("d4e5")?), (2, 10));
        assert_eq!(problem.points(mv("f4f5")?), (10, 10));
        assert_eq!(problem.points(mv("g1h1")?), (0, 10));
        Ok(())
    }

    #[test]
    fn moves_to_avoid_are_no_solutions() -> Result<()> {
        let problem = problem("4k3/8/8/8/8/8/8/4K2R w K - am O-O Rh8+; id \"x\";")?;
        let mv = |text| problem.position.parse_move(text);
        assert!(!problem.is_solved_by(mv("e1g1")?) && problem.is_solved_by(mv("h1h2")?));
        assert_eq!(problem.points(mv("h1h2")?), (1, 1));
        Ok(())
    }

    #[test]
    fn a_comment_with_an_equals_sign_is_no_grade() -> Result<()> {
        for comment in ["after Rh2 x = y", "Rh2 is y = z", "Rh2= draws", "depth=20", "e8=Q+"] {
            let line = format!("4k3/8/8/8/8/8/8/4K2R w K - bm Rh2; c0 \"{comment}\";");
            assert!(problem(&line)?.graded.is_empty(), "{comment}");
        }
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, part) in [
            ("4k3/8/8/8/8/8/8/4K2R w K - bm Qd1;", "move 'Qd1' is not legal"),
            ("4k3/8/8/8/8/8/8/4K2R w K - id \"x\";", "neither bm nor am"),
            ("hello", "FEN 'hello"),
            ("4k3/8/8/8/8/8/8/4K2R w K - bm Rh2; c0 \"Rh2=x\";", "not a grade"),
        ] {
            let error = format!("{:#}", problem(line).expect_err(line));
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn every_line_is_a_problem_however_lines_end() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("suite.epd");
        for end in ["\n", "\r\n", "\r"] {
            std::fs::write(&path, [LINE, end, LINE, end].concat())?;
            assert_eq!(read_suite(&path)?.len(), 2, "{end:?}");
        }
        Ok(())
    }

    #[test]
    fn every_move_has_to_be_found_but_any_mate_will_do() -> Result<()> {
        // A quiet move, then queen or rook mates on the last rank.
        let puzzle = puzzle("7k/2p5/8/6K1/8/8/8/QR6 b - - 0 1", "h8g8 g5g6 c7c6 a1a8")?;
        assert_eq!(puzzle.steps.len(), 2);
        let play = |script: &[&str]| {
            let mut script = script.iter();
            puzzle.is_solved_by(|position| {
                position.parse_move(script.next().context("too many moves")?)
            })
        };
        assert!(play(&["g5g6", "a1a8"])?);
        assert!(play(&["g5g6", "b1b8"])?, "another mate");
        assert!(!play(&["g5g6", "a1a7"])?);
        assert!(!play(&["a1a2"])?);
        Ok(())
    }

    #[test]
    fn files_are_read_and_what_is_wrong_is_named() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("puzzles.csv");
        let row = "1,7k/8/5K2/8/8/8/8/Q6R b - - 0 1,h8g8 f6g6,600";
        std::fs::write(&path, format!("PuzzleId,FEN,Moves,Rating\n{row}\n{row}\n"))?;
        assert_eq!(read_puzzles(&path)?.len(), 2);
        for (text, part) in [
            ("PuzzleId,FEN\n", "no column 'Moves'"),
            ("FEN,Moves\n", "no puzzles"),
            ("FEN,Moves\n7k/8/5K2/8/8/8/8/Q6R b - - 0 1,h8h1\n", "puzzle 1: move 'h8h1'"),
            ("FEN,Moves\n7k/8/5K2/8/8/8/8/Q6R b - - 0 1,h8g8\n", "no move to find"),
        ] {
            std::fs::write(&path, text)?;
            let error = format!("{:#}", read_puzzles(&path).expect_err(text));
            assert!(error.contains(part), "{error}");
        }
        Ok(())
    }
}
