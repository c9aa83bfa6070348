//! The engine of `--engine`: a process that searches for one page at a time.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{Position, castles_as_in_chess960};
use azimuth_chess::text::{printable, shortened};
use azimuth_chess::win_probability::win_probability_of_centipawns;
use azimuth_client::{Engine, UciScore, number_after, score, within};
use azimuth_search::StopSwitch;

use crate::explain::{self, ScoreJson};
use crate::tasks::protocol::Line;
use crate::tasks::{MOST_LINES, Outlet, PlayedLine, Progress};

/// Longest wait for an answer, and for the first line of moves: some engines read a large network.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longest wait for an answer once the page wants none. A server that ends waits for two seconds,
/// and within them the process must end.
const STOPPING: Duration = Duration::from_millis(1500);

/// How often a search looks whether it goes on.
const TICK: Duration = Duration::from_millis(50);

/// Most plies of a line.
const MOST_PLIES: usize = 40;

/// Maximum length of the engine's name on the page, and of a move that an error quotes.
const LONGEST_WORD: usize = 40;

/// The engine. It waits for commands between two tasks.
pub struct SecondEngine {
    path: PathBuf,
    pub name: String,
    /// `None` after a fault, until the next task.
    process: Option<Engine>,
}

impl SecondEngine {
    /// Starts the program. Fails if it is no UCI engine.
    pub fn start(path: PathBuf) -> Result<Self> {
        let process = Engine::start_while(&path, &[], [], &within(PATIENCE));
        let process = process
            .with_context(|| format!("--engine '{}' names no UCI engine", path.display()))?;
        let name = printable(&shortened(process.name(), LONGEST_WORD)).into_owned();
        Ok(Self { path, name, process: Some(process) })
    }

    /// Searches with `lines` lines until it is stopped. After a fault the process ends, and the
    /// next task starts another.
    pub fn analyse(&mut self, line: &PlayedLine, lines: usize, outlet: &dyn Outlet) -> Result<()> {
        line.ensure_goes_on()?;
        let lines = lines.clamp(1, MOST_LINES);
        let process = match &mut self.process {
            Some(process) => process,
            none => {
                let is_awaited = awaited(outlet.switch());
                none.insert(Engine::start_while(&self.path, &[], [], &is_awaited)?)
            }
        };
        let done = set_up(process, line, lines, outlet.switch())
            .and_then(|()| search(process, &line.last, lines, outlet));
        if done.is_err() {
            self.forget();
        }
        done
    }

    /// Ends the process.
    pub fn forget(&mut self) {
        self.process = None;
    }
}

/// Holds while the engine may take time for an answer.
fn awaited(switch: &StopSwitch) -> impl Fn() -> bool {
    let is_in_time = within(PATIENCE);
    let stopped = Cell::new(None::<Instant>);
    move || {
        if switch.is_stopped() && stopped.get().is_none() {
            stopped.set(Some(Instant::now()));
        }
        is_in_time() && stopped.get().is_none_or(|at| at.elapsed() < STOPPING)
    }
}

/// Sets the options and the position.
fn set_up(engine: &mut Engine, line: &PlayedLine, lines: usize, switch: &StopSwitch) -> Result<()> {
    let start = line.start.board();
    let chess960 = castles_as_in_chess960(start);
    let knows_it = !chess960 || engine.has_option("UCI_Chess960");
    ensure!(knows_it, "{engine}: it does not play Chess960");
    for (name, value) in [("MultiPV", lines.to_string()), ("UCI_Chess960", chess960.to_string())] {
        if engine.has_option(name) {
            engine.send(&format!("setoption name {name} value {value}"))?;
        }
    }
    let mut command = format!("position fen {}", line.start.fen(chess960));
    if !line.moves.is_empty() {
        command.push_str(" moves ");
        command.push_str(&explain::line(start, chess960, &line.moves).join(" "));
    }
    engine.send(&command)?;
    engine.wait_until_ready(&awaited(switch))
}

/// Searches, and sends the lines to the page.
fn search(engine: &mut Engine, root: &Position, lines: usize, outlet: &dyn Outlet) -> Result<()> {
    let mut progress = Progress::new(outlet);
    let began = Instant::now();
    engine.send("go infinite")?;
    loop {
        if outlet.switch().is_stopped() {
            let is_answer = |line: &str| line.starts_with("bestmove");
            return engine.ask("stop", &within(STOPPING), is_answer);
        }
        let text = engine.read_within(TICK)?.map_or(String::new(), |line| line.text);
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["bestmove", ..] => break,
            ["info", facts @ ..] => {
                let line = read_line(facts, root).with_context(|| engine.to_string())?;
                let place: usize = number_after(facts, "multipv").unwrap_or(1);
                if let Some(line) = line.filter(|_| (1..=lines).contains(&place)) {
                    let seldepth = number_after(facts, "seldepth").unwrap_or(line.depth);
                    let nodes = number_after(facts, "nodes").unwrap_or_default();
                    progress.add(place, line, seldepth, nodes, began.elapsed());
                }
            }
            _ => {}
        }
        let is_slow = progress.is_empty() && began.elapsed() > PATIENCE;
        ensure!(!is_slow, "{engine}: no line of moves in {} s", PATIENCE.as_secs());
        progress.show();
    }
    ensure!(!progress.is_empty(), "{engine}: it chose a move without a line of moves");
    progress.finish();
    Ok(())
}

/// The line in the words of an `info` line; `None` if it has none, or only a bound of its score.
/// Fails if its first move is illegal.
fn read_line(facts: &[&str], root: &Position) -> Result<Option<Line>> {
    let is_bound = facts.iter().any(|&fact| fact == "lowerbound" || fact == "upperbound");
    let pv = facts.iter().position(|&word| word == "pv").map(|at| &facts[at + 1..]);
    let (Some(score), Some(words), false) = (score(facts), pv, is_bound) else { return Ok(None) };
    let (mut position, mut moves) = (root.clone(), Vec::new());
    for word in words.iter().take(MOST_PLIES) {
        match position.parse_move(&shortened(word, LONGEST_WORD)) {
            Ok(mv) => {
                position.play(mv);
                moves.push(mv);
            }
            Err(error) if moves.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    let board = root.board();
    let pv = explain::line(board, castles_as_in_chess960(board), &moves);
    let depth = number_after(facts, "depth").unwrap_or_default();
    let line = Line { score: score_of(score), wdl: None, depth, pv };
    Ok(Some(line).filter(|line| !line.pv.is_empty()))
}

fn score_of(score: UciScore) -> ScoreJson {
    let (cp, mate, win_probability) = match score {
        UciScore::Centipawns(cp) => (Some(cp), None, win_probability_of_centipawns(cp.into())),
        UciScore::Mate(moves) => (None, Some(moves), if moves > 0 { 1.0 } else { 0.0 }),
    };
    ScoreJson { cp, mate, win_probability: win_probability as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_from_whatever_an_engine_prints() -> Result<()> {
        let root = Position::default();
        let read = |text: &str| read_line(&text.split_whitespace().collect::<Vec<_>>(), &root);
        let line = read("depth 9 score cp -12 nodes 5 pv e2e4 e7e5 nonsense d2d4")?;
        let line = line.context("a line")?;
        assert_eq!((line.score.cp, line.depth), (Some(-12), 9));
        assert_eq!(line.pv, ["e2e4", "e7e5"]);
        for none in [
            "",
            "depth 1",
            "depth 1 pv e2e4",
            "score mate 1 pv",
            "string score cp 1 pv e2e4",
            "depth 1 score cp 1 lowerbound pv e2e4",
        ] {
            assert!(read(none)?.is_none(), "{none}");
        }
        let fault = read("score cp 1 pv é2e5").err().context("a fault")?;
        assert!(fault.to_string().starts_with("move 'é2e5' is not legal in '"), "{fault}");
        Ok(())
    }
}
