//! UCI engines in other processes, as opponents in matches and as sources of labels.
//!
//! The crates that drive UCI engines block without a time limit. A match or a long labelling run
//! must distinguish a slow engine from a hanging one, so this crate drives engines itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

/// Longest wait for an engine to start, or for an answer without a time limit.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// How often a wait for an answer looks whether it goes on.
const TICK: Duration = Duration::from_millis(50);

/// Most lines that wait to be read: an engine that prints for ever must not fill the memory.
const WAITING_LINES: usize = 1024;

/// Longest line in bytes, for the same reason; a longer one is read in parts.
const LONGEST_LINE: u64 = 1 << 16;

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
    /// The names of its options, in small letters.
    options: Vec<String>,
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
        Self::start_while(command, arguments, options, &within(PATIENCE))
    }

    /// As [`Self::start`], but waits for its answers as long as `is_awaited` holds.
    pub fn start_while<'a>(
        command: &Path,
        arguments: &[String],
        options: impl IntoIterator<Item = (&'a str, &'a str)>,
        is_awaited: &dyn Fn() -> bool,
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
        let (mut name, mut known) = (command.clone(), Vec::new());
        let mut engine =
            Self { name: String::new(), command, options: Vec::new(), child, input, lines };
        engine.ask("uci", is_awaited, |line| {
            if let Some(own) = line.strip_prefix("id name ") {
                name = own.trim().to_owned();
            } else if let Some(option) = line.strip_prefix("option name ") {
                let option = option.split(" type ").next().unwrap_or_default();
                known.push(option.trim().to_lowercase());
            }
            line.trim() == "uciok"
        })?;
        (engine.name, engine.options) = (name, known);
        for (name, value) in options {
            ensure!(engine.has_option(name), "{engine}: it has no option '{name}'");
            engine.send(&format!("setoption name {name} value {value}"))?;
        }
        engine.wait_until_ready(is_awaited)?;
        Ok(engine)
    }

    /// The name that the engine reports with `id name`; that of the program if it reports none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has this option.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.contains(&name.to_lowercase())
    }

    /// Tells the engine that a new game follows, and waits until it is ready.
    pub fn new_game(&mut self) -> Result<()> {
        self.send("ucinewgame")?;
        self.wait_until_ready(&within(PATIENCE))
    }

    /// Waits until it is ready, as long as `is_awaited` holds.
    pub fn wait_until_ready(&mut self, is_awaited: &dyn Fn() -> bool) -> Result<()> {
        self.ask("isready", is_awaited, |line| line.trim() == "readyok")
    }

    /// Sends a command, and reads up to the line that answers it. Fails if `is_awaited` holds no
    /// longer before that line.
    pub fn ask(
        &mut self,
        command: &str,
        is_awaited: &dyn Fn() -> bool,
        mut is_answer: impl FnMut(&str) -> bool,
    ) -> Result<()> {
        let asked = Instant::now();
        self.send(command)?;
        while is_awaited() {
            if self.read_within(TICK)?.is_some_and(|line| is_answer(&line.text)) {
                return Ok(());
            }
        }
        bail!("{self}: no answer to '{command}' in {:.1} s", asked.elapsed().as_secs_f64())
    }

    /// Sends a command.
    pub fn send(&mut self, line: &str) -> Result<()> {
        writeln!(self.input, "{line}")
            .and_then(|()| self.input.flush())
            .with_context(|| format!("{self}: it has gone away"))
    }

    /// The next line. Fails if none arrives in time or the engine has ended.
    pub fn read(&self, patience: Duration) -> Result<OutputLine> {
        let line = self.read_within(patience)?;
        line.with_context(|| format!("{self}: no answer in {:.1} s", patience.as_secs_f64()))
    }

    /// The next line; `None` if none arrives in time. Fails if the engine has ended.
    pub fn read_within(&self, patience: Duration) -> Result<Option<OutputLine>> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(anyhow!("{self}: it ended")),
        }
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

/// Holds for this time from now on.
pub fn within(patience: Duration) -> impl Fn() -> bool {
    let began = Instant::now();
    move || began.elapsed() < patience
}

fn read_lines(output: ChildStdout) -> Receiver<OutputLine> {
    let (sender, lines) = bounded(WAITING_LINES);
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut bytes = Vec::new();
        let mut read =
            |bytes: &mut Vec<u8>| output.by_ref().take(LONGEST_LINE).read_until(b'\n', bytes);
        while read(&mut bytes).is_ok_and(|read| read > 0) {
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
