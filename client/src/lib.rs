//! UCI engines in other processes, as opponents in matches and as sources of labels.
//!
//! The crates that drive UCI engines block without a time limit. A match or a long labelling run
//! must distinguish a slow engine from a hanging one, so this crate drives engines itself.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};

/// Longest wait for an engine to start, or for an answer without a time limit.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A line and the time at which it was read.
#[derive(Clone, Debug)]
pub struct OutputLine {
    /// The line without its line break.
    pub text: String,
    /// Time at which it was read.
    pub read: Instant,
}

/// A running UCI engine; it ends when dropped.
pub struct Engine {
    name: String,
    command: String,
    child: Child,
    input: ChildStdin,
    lines: Receiver<OutputLine>,
}

impl Engine {
    /// Starts the engine with its arguments and sets its options. Fails if it does not start, does
    /// not answer, or lacks an option.
    pub fn start<'a>(
        command: &Path,
        arguments: &[String],
        options: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self> {
        let mut child = Command::new(command)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("engine '{}': cannot start", command.display()))?;
        let output = child.stdout.take().context("no output")?;
        let input = child.stdin.take().context("no input")?;
        let command = command.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let lines = read_lines(output);
        let mut engine = Self { name: command.clone(), command, child, input, lines };
        engine.set_up(options)?;
        Ok(engine)
    }

    fn set_up<'a>(&mut self, options: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<()> {
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
        for (name, value) in options {
            ensure!(known.contains(&name.to_lowercase()), "{}: it has no option '{name}'", self);
            self.send(&format!("setoption name {name} value {value}"))?;
        }
        self.wait_until_ready()
    }

    /// The name that the engine reports with `id name`; that of the program if it reports none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells the engine that a new game follows, and waits until it is ready.
    pub fn new_game(&mut self) -> Result<()> {
        self.send("ucinewgame")?;
        self.wait_until_ready()
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        self.send("isready")?;
        while self.read(PATIENCE)?.text.trim() != "readyok" {}
        Ok(())
    }

    /// Sends a command.
    pub fn send(&mut self, line: &str) -> Result<()> {
        writeln!(self.input, "{line}")
            .and_then(|()| self.input.flush())
            .with_context(|| format!("{self}: it has gone away"))
    }

    /// The next line. Fails if none arrives in time or the engine has ended.
    pub fn read(&self, patience: Duration) -> Result<OutputLine> {
        self.lines.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                anyhow!("{self}: no answer in {:.1} s", patience.as_secs_f64())
            }
            RecvTimeoutError::Disconnected => anyhow!("{self}: it ended"),
        })
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "engine '{}'", self.command)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Ask the engine to quit, and kill it if it does not.
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

fn read_lines(output: ChildStdout) -> Receiver<OutputLine> {
    let (sender, lines) = unbounded();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut bytes = Vec::new();
        while output.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            if sender.send(OutputLine { text, read: Instant::now() }).is_err() {
                break;
            }
            bytes.clear();
        }
    });
    lines
}

/// A score from the view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UciScore {
    /// Hundredths of a pawn.
    Centipawns(i32),
    /// Moves to mate, negative where the side to move is mated.
    Mate(i32),
}

/// The score in the words of an `info` line.
pub fn score(facts: &[&str]) -> Option<UciScore> {
    number_after(facts, "cp")
        .map(UciScore::Centipawns)
        .or_else(|| number_after(facts, "mate").map(UciScore::Mate))
}

/// The number after `name` in the words of an `info` line.
pub fn number_after<T: std::str::FromStr>(facts: &[&str], name: &str) -> Option<T> {
    // The words after `pv` and `string` are not keywords.
    let end = facts.iter().position(|&word| word == "pv" || word == "string");
    let facts = &facts[..end.unwrap_or(facts.len())];
    let place = facts.iter().position(|&word| word == name)?;
    facts.get(place + 1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_from_their_own_part() {
        let facts = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
        assert_eq!(score(&facts("depth 9 score cp -12 pv e2e4")), Some(UciScore::Centipawns(-12)));
        assert_eq!(score(&facts("depth 9 score mate 3 pv e2e4")), Some(UciScore::Mate(3)));
        assert_eq!(score(&facts("string cp 5")), None);
        assert_eq!(number_after(&facts("depth 11 seldepth 14"), "depth"), Some(11));
    }
}
