//! `bench`: a fixed set of searches. Their node count is a fingerprint of the search, and their
//! time measures the speed of the machine. Also files with one position a line, FEN or EPD, which
//! `genfens` reads, too; and `go perft`, which counts the leaf nodes of the tree of legal moves, to
//! test move generation.

use std::fmt::{Display, Formatter};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_chess::pgn::{lines_of, read_text};
use azimuth_chess::position::{
    Position, board_after, legal_moves, move_count, split_operations, uci_move,
};
use azimuth_chess::text::shortened;
use azimuth_search::host::Instant;
use azimuth_search::{BeamSettings, Control, Limits, Planner, PlannerKind, Report, Resources};
use cozy_chess::Board;

use super::command::{BenchPositions, BenchTask};
use super::engine::play_moves;
use super::output::Output;

/// Resources of each planner.
pub const BENCH_RESOURCES: Resources = Resources { hash_mb: 16, threads: 1 };

/// Default depth of the selective search, in plies. It takes several seconds on one core, so that
/// OpenBench can scale time controls by the machine's speed.
const DEFAULT_DEPTH: u32 = 15;

/// Maximum depth in plies; deeper searches may take hours.
const DEEPEST: u32 = 32;

#[derive(Clone, Copy, Default)]
pub struct Cost {
    nodes: u64,
    seconds: f64,
}

/// `NODES nodes NPS nps`, as OpenBench reads it in the last line.
impl Display for Cost {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { nodes, seconds } = *self;
        write!(formatter, "{nodes} nodes {:.0} nps", nodes as f64 / seconds.max(1e-6))
    }
}

/// Searches every position with the beam as in the paper and with the beam as it verifies by
/// default, at most to their default depth, then with the selective search to `depth` plies
/// ([`DEFAULT_DEPTH`] if `None`). `build` builds a planner with empty caches and tables. Prints a
/// line for each position, the cost of each beam and, last, the cost of the selective search.
pub fn bench(
    mut build: impl FnMut(PlannerKind, BeamSettings) -> Result<Box<dyn Planner>>,
    depth: Option<u32>,
    output: &Output,
) -> Result<()> {
    let depth = depth.unwrap_or(DEFAULT_DEPTH).clamp(1, DEEPEST);
    let default = BeamSettings::default();
    let beam_depth = Some(depth.min(default.depth));
    for (name, beam) in [("beam", BeamSettings::PAPER), ("verified beam", default)] {
        let mut planner = build(PlannerKind::Beam, beam)?;
        let cost = bench_planner(&mut *planner, name, beam_depth, output)?;
        output.say(&format!("{name}: {cost}"));
    }
    let mut selective = build(PlannerKind::Selective, default)?;
    let cost = bench_planner(&mut *selective, "selective", Some(depth), output)?;
    output.say(&cost.to_string());
    Ok(())
}

/// Searches every position to `depth` plies (the planner's default depth if `None`) and prints a
/// line for each.
pub fn bench_planner(
    planner: &mut dyn Planner,
    name: &str,
    depth: Option<u32>,
    output: &Output,
) -> Result<Cost> {
    let roots = bench_positions()?;
    search_all(planner, name, &roots, &Limits { depth, ..Limits::default() }, output)
}

/// Runs `bench` in Stockfish's order with one planner. The last line is the total cost.
pub fn bench_searches(
    planner: &mut dyn Planner,
    name: &str,
    (positions, task): (&BenchPositions, &BenchTask),
    current: &Position,
    output: &Output,
) -> Result<()> {
    let roots = match positions {
        BenchPositions::Default => bench_positions()?,
        BenchPositions::Current => vec![current.clone()],
        BenchPositions::File(path) => {
            let file = PositionFile::read("bench", path)?;
            file.lines.iter().map(|line| file.position(line)).collect::<Result<_>>()?
        }
    };
    let cost = match task {
        BenchTask::Search(limits) => search_all(planner, name, &roots, limits, output)?,
        BenchTask::Perft(plies) => count_all(&roots, *plies, output)?,
    };
    output.say(&cost.to_string());
    Ok(())
}

fn search_all(
    planner: &mut dyn Planner,
    name: &str,
    roots: &[Position],
    limits: &Limits,
    output: &Output,
) -> Result<Cost> {
    let (mut sum, count) = (Cost::default(), roots.len());
    for (number, root) in (1..).zip(roots) {
        if !root.has_legal_move() {
            output.say(&format!("{name}, position {number}/{count}: no legal move"));
            continue;
        }
        planner.new_game();
        let control = &mut Control::without_signals(limits.clone());
        let Report { nodes, time, value, .. } = planner.search(root, control, &mut |_| ())?;
        sum.nodes += nodes;
        sum.seconds += time.as_secs_f64();
        output.say(&format!("{name}, position {number}/{count}: {nodes} nodes, score {value}"));
    }
    Ok(sum)
}

fn count_all(roots: &[Position], plies: u32, output: &Output) -> Result<Cost> {
    let mut sum = Cost::default();
    for (number, root) in (1..).zip(roots) {
        let began = Instant::now();
        let go_on = AtomicBool::new(false);
        let nodes = divide(root, plies, true, &go_on, &mut |_| ()).context("nothing stops it")?;
        sum.nodes += nodes;
        sum.seconds += began.elapsed().as_secs_f64();
        output.say(&format!("perft {plies}, position {number}/{}: {nodes} nodes", roots.len()));
    }
    Ok(sum)
}

fn bench_positions() -> Result<Vec<Position>> {
    BENCH_POSITIONS.into_iter().map(Position::from_fen).collect()
}

/// Maximum length of a path in an error, in characters.
const LONGEST_PATH: usize = 200;

pub struct PositionFile {
    /// The command and the path, for errors.
    name: String,
    /// The lines with positions, and their numbers.
    pub lines: Vec<(usize, String)>,
}

impl PositionFile {
    /// Reads a file for a command, which errors name. Empty lines and comments (`#`) are left out.
    /// Fails if it is no regular file, or if no line is left.
    pub fn read(command: &str, path: &Path) -> Result<Self> {
        let name = format!("{command}: '{}'", shortened(&path.display().to_string(), LONGEST_PATH));
        let metadata = std::fs::metadata(path).with_context(|| name.clone())?;
        // Reading a pipe or a device could block for ever.
        ensure!(metadata.is_file(), "{name}: not a regular file");
        let text = read_text(path).with_context(|| command.to_owned())?;
        let lines = lines_of(&text).map(|(number, line)| (number, line.into_owned()));
        let lines: Vec<(usize, String)> = lines.collect();
        ensure!(!lines.is_empty(), "{name}: there is no position in it");
        Ok(Self { name, lines })
    }

    /// The position of a line, after its `moves` as in Stockfish's files. Operations of EPD are
    /// ignored.
    pub fn position(&self, (number, line): &(usize, String)) -> Result<Position> {
        position(line).with_context(|| format!("{}, line {number}", self.name))
    }
}

fn position(line: &str) -> Result<Position> {
    let (fen, rest) = split_operations(line);
    let mut position = Position::from_fen(&fen)?;
    let moves = rest.strip_prefix("moves ").unwrap_or_default().split_whitespace();
    play_moves(&mut position, moves)?;
    Ok(position)
}

/// Counts the leaf nodes at `depth` plies (1 to `MAX_PERFT_DEPTH`); `None` if it is stopped. `say`
/// gets the count of each root move in Stockfish's format.
pub fn divide(
    root: &Position,
    depth: u32,
    chess960: bool,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Option<u64> {
    let board = root.board();
    let mut sum = 0;
    for mv in legal_moves(board) {
        let count = match depth {
            0 | 1 => 1,
            _ => count(&board_after(board, mv), depth - 1, stop)?,
        };
        say(&format!("{}: {count}", uci_move(board, mv, chess960)));
        sum += count;
    }
    Some(sum)
}

/// Leaf nodes at `depth` plies (at least 1). The moves of the last ply are counted without being
/// played.
fn count(board: &Board, depth: u32, stop: &AtomicBool) -> Option<u64> {
    if depth == 1 {
        return Some(move_count(board) as u64);
    }
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    let mut sum = 0;
    for mv in legal_moves(board) {
        sum += count(&board_after(board, mv), depth - 1, stop)?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_after_a_position_are_played() -> Result<()> {
        let after = position("4k3/8/8/8/8/8/4P3/4K3 w - - 7 14 moves e2e4 e8d7")?;
        assert_eq!(after.fen(false), "8/3k4/8/8/4P3/8/8/4K3 w - - 1 15");
        let san = position("4k3/8/8/8/8/8/4P3/4K3 w - - moves e2e4 Kd7").expect_err("SAN");
        let error = san.to_string();
        assert!(error.starts_with("moves, number 2: move 'Kd7' is not legal in '4k3"), "{error}");
        assert!(error.ends_with("; UCI writes it as e8d7"), "{error}");
        Ok(())
    }

    /// Lines of `FEN ;D1 20 ;D2 400`.
    const SUITE: &str = include_str!("../../../tests/data/perft.epd");

    /// Counts beyond this are left to slower tests.
    const MOST: u64 = 5_000_000;

    #[test]
    fn counts_are_those_of_the_suite() -> Result<()> {
        let mut compared = 0;
        for line in SUITE.lines() {
            let mut fields = line.split(" ;D");
            let root = Position::from_fen(fields.next().unwrap_or_default())?;
            for field in fields {
                let (depth, nodes) = field.trim().split_once(' ').context("depth and count")?;
                let (depth, nodes) = (depth.parse()?, nodes.parse()?);
                if nodes <= MOST {
                    let mut lines = 0;
                    let go_on = AtomicBool::new(false);
                    let counted = divide(&root, depth, true, &go_on, &mut |_| lines += 1);
                    assert_eq!(counted, Some(nodes), "{line}: {depth}");
                    assert_eq!(lines, legal_moves(root.board()).len());
                    compared += 1;
                }
            }
        }
        assert!(compared > 50, "only {compared} counts");
        Ok(())
    }
}
