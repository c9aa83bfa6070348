//! A UCI engine in a process of its own.
//!
//! Written here because the crates that drive UCI engines block without a time limit, and a match
//! has to tell a slow engine from a dead one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use azimuth::position::uci_move;
use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};

use super::player::{Choice, Evaluation, Player, Situation};
use super::settings::{Limit, UciPlayer, file_name};

/// Longest wait for an engine to start, or for a move without a time limit.
const PATIENCE: Duration = Duration::from_secs(120);

/// A move this much over its limit comes from an engine that hangs, not from a slow one.
const HANGING: Duration = Duration::from_secs(10);

/// A line with the time at which it was read.
struct Line {
    text: String,
    read: Instant,
}

/// A running UCI engine.
pub struct Process {
    /// The engine's own name, from `id name`.
    pub name: String,
    command: String,
    child: Child,
    input: ChildStdin,
    lines: Receiver<Line>,
    limit: Limit,
}

impl Process {
    /// Starts the engine and sets its options. Fails where it does not start, does not answer, or
    /// lacks an option.
    pub fn start(settings: &UciPlayer, limit: &Limit) -> Result<Self> {
        let command = file_name(&settings.command);
        let mut child = Command::new(&settings.command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("engine '{}': cannot start", settings.command.display()))?;
        let output = child.stdout.take().context("no output")?;
        let input = child.stdin.take().context("no input")?;
        let lines = read_lines(output);
        let limit = limit.clone();
        let mut engine = Self { name: command.clone(), command, child, input, lines, limit };
        engine.set_up(settings)?;
        Ok(engine)
    }

    fn set_up(&mut self, settings: &UciPlayer) -> Result<()> {
        self.send("uci")?;
        let mut known = Vec::new();
        loop {
            let line = self.read(PATIENCE)?.text;
            if let Some(name) = line.strip_prefix("id name ") {
                name.trim().clone_into(&mut self.name);
            } else if let Some(option) = line.strip_prefix("option name ") {
                let name = option.split(" type ").next().unwrap_or_default();
                known.push(name.trim().to_lowercase());
            } else if line.trim() == "uciok" {
                break;
            }
        }
        for (name, value) in &settings.options {
            ensure!(
                known.contains(&name.to_lowercase()),
                "engine '{}': it has no option '{name}'",
                self.command
            );
            self.send(&format!("setoption name {name} value {value}"))?;
        }
        self.wait_until_ready()
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        self.send("isready")?;
        while self.read(PATIENCE)?.text.trim() != "readyok" {}
        Ok(())
    }

    fn send(&mut self, line: &str) -> Result<()> {
        writeln!(self.input, "{line}")
            .and_then(|()| self.input.flush())
            .with_context(|| format!("engine '{}': it has gone away", self.command))
    }

    fn read(&self, patience: Duration) -> Result<Line> {
        self.lines.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                anyhow!("engine '{}': no answer in {:.1} s", self.command, patience.as_secs_f64())
            }
            RecvTimeoutError::Disconnected => anyhow!("engine '{}': it ended", self.command),
        })
    }

    /// Time after which no answer can be hoped for.
    fn patience(&self, situation: &Situation<'_>) -> Duration {
        let side = situation.position.board().side_to_move() as usize;
        match (self.limit.move_time, situation.clocks[side]) {
            (Some(time), _) | (None, Some(time)) => time + self.limit.margin + HANGING,
            (None, None) => PATIENCE,
        }
    }

    fn go(&self, situation: &Situation<'_>) -> String {
        let mut go = "go".to_owned();
        let [white, black] = situation.clocks;
        let [white_increment, black_increment] = situation.increments;
        let mut add = |name: &str, value: Option<u128>| {
            if let Some(value) = value {
                go.push_str(&format!(" {name} {value}"));
            }
        };
        if self.limit.clock.is_some() {
            // The opponent's clock is told where it has one.
            add("wtime", Some(white.or(black).unwrap_or_default().as_millis()));
            add("btime", Some(black.or(white).unwrap_or_default().as_millis()));
            add("winc", Some(white_increment.as_millis()));
            add("binc", Some(black_increment.as_millis()));
        }
        add("depth", self.limit.depth.map(u128::from));
        add("nodes", self.limit.nodes.map(u128::from));
        add("movetime", self.limit.move_time.map(|time| time.as_millis()));
        go
    }
}

impl Player for Process {
    fn new_game(&mut self) -> Result<()> {
        self.send("ucinewgame")?;
        self.wait_until_ready()
    }

    fn choose(&mut self, situation: &Situation<'_>) -> Result<Choice> {
        let mut board = azimuth::position::Position::from_fen(situation.start)?.board().clone();
        let mut position = format!("position fen {}", situation.start);
        for (number, &mv) in situation.moves.iter().enumerate() {
            position.push_str(if number == 0 { " moves " } else { " " });
            position.push_str(&uci_move(&board, mv, false));
            board.play_unchecked(mv);
        }
        self.send(&position)?;
        let (mut evaluation, mut depth) = (None, None);
        let went = Instant::now();
        self.send(&self.go(situation))?;
        let patience = self.patience(situation);
        loop {
            let line = self.read(patience.saturating_sub(went.elapsed()))?;
            let words: Vec<&str> = line.text.split_whitespace().collect();
            match words.as_slice() {
                ["bestmove", mv, ..] => {
                    let evaluation = evaluation.map(|evaluation: Evaluation| {
                        evaluation.seen_by(situation.position.board().side_to_move())
                    });
                    let time = line.read.saturating_duration_since(went);
                    return Ok(Choice { mv: (*mv).to_owned(), evaluation, depth, time });
                }
                ["bestmove"] => bail!("engine '{}': bestmove without a move", self.command),
                ["info", facts @ ..] => {
                    evaluation = read_score(facts).or(evaluation);
                    depth = number_after(facts, "depth").or(depth);
                }
                _ => {}
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Asked to go, and made to where it does not.
        let _ = self.send("quit");
        let asked = Instant::now();
        while asked.elapsed() < Duration::from_millis(200) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(output: ChildStdout) -> Receiver<Line> {
    let (sender, lines) = unbounded();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut bytes = Vec::new();
        while output.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            if sender.send(Line { text, read: Instant::now() }).is_err() {
                break;
            }
            bytes.clear();
        }
    });
    lines
}

/// The first line's score in what follows `info`; those of other lines (MultiPV) are left out.
fn read_score(facts: &[&str]) -> Option<Evaluation> {
    if number_after::<u32>(facts, "multipv").is_some_and(|line| line > 1) {
        return None;
    }
    number_after(facts, "cp")
        .map(Evaluation::Centipawns)
        .or_else(|| number_after(facts, "mate").map(Evaluation::Mate))
}

fn number_after<T: std::str::FromStr>(facts: &[&str], name: &str) -> Option<T> {
    // What follows `pv` or `string` is text of another kind.
    let end = facts.iter().position(|&word| word == "pv" || word == "string");
    let facts = &facts[..end.unwrap_or(facts.len())];
    let place = facts.iter().position(|&word| word == name)?;
    facts.get(place + 1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_from_the_first_line() {
        let facts = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
        let read = |text| read_score(&facts(text));
        assert_eq!(
            read("depth 9 multipv 1 score cp -12 pv e2e4"),
            Some(Evaluation::Centipawns(-12))
        );
        assert_eq!(read("depth 9 score mate 3 pv e2e4"), Some(Evaluation::Mate(3)));
        assert_eq!(read("depth 9 multipv 2 score cp 5 pv e2e4"), None);
        assert_eq!(read("string cp 5"), None);
        assert_eq!(number_after(&facts("depth 11 seldepth 14"), "depth"), Some(11));
    }
}
