//! Random sessions with the built programs, Azimuth and every rival: all lines are sent at once, as
//! fast as the program takes them, and the input is closed. No program may panic, hang, or leave a
//! `go` without its one answer.
//!
//! `AZIMUTH_FUZZ_COMMANDS=1000000 cargo test --release -p azimuth-tests --test unsynchronised`
//! sends more commands than the default.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_tests::binary;
use azimuth_tests::uci_lines::{number_of_lines, play_sessions};

/// Commands of the default run.
const COMMANDS: usize = 2_400;

/// A program that runs for longer counts as hanging.
const PATIENCE: Duration = Duration::from_secs(120);

const RIVALS: [&str; 8] =
    ["deepchess", "heuristic", "qlearning", "diffusion", "policy", "twohead", "value", "nnue"];

/// How the one answer to a `go` begins.
const ANSWERS: [&str; 6] = [
    "bestmove ",
    "Nodes searched: ",
    "info string go perft: stopped",
    "info string go: a search is running",
    "info string go: no search begins: 'perft'",
    "info string go perft: there is no position",
];

/// Sends all lines, closes the input and returns what the program says.
fn converse(folder: &Path, program: &str, arguments: &[&str], lines: &[Vec<u8>]) -> Result<String> {
    let mut child = Command::new(binary(program)?)
        .args(arguments)
        // A damaged LogFile may name any file: here it does no harm.
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().context("no input")?;
    let mut sent = lines.join(&b'\n');
    sent.push(b'\n');
    let sender = thread::spawn(move || input.write_all(&sent));
    let said = read_all(child.stdout.take().context("no output")?);
    let errors = read_all(child.stderr.take().context("no errors")?);
    let status = wait(&mut child)?;
    let text = |reader: thread::JoinHandle<Vec<u8>>| -> Result<String> {
        let bytes = reader.join().map_err(|_| anyhow!("the reader panicked"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let (said, errors) = (text(said)?, text(errors)?);
    ensure!(status.success() && errors.is_empty(), "{status}: {errors}");
    sender
        .join()
        .map_err(|_| anyhow!("the sender panicked"))?
        .context("the program took not all")?;
    Ok(said)
}

fn read_all(mut output: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.read_to_end(&mut bytes);
        bytes
    })
}

/// Waits for the end; a program that takes too long is killed.
fn wait(child: &mut Child) -> Result<std::process::ExitStatus> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if began.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(anyhow!("it had not ended {PATIENCE:?} after its input"));
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Inserts `stop` after every `go perft`: `quit` and the end of the input wait for a count, and a
/// count to 30 plies would not end.
fn stopping_counts(lines: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let counts = |line: &[u8]| String::from_utf8_lossy(line).contains("perft");
    let with_stop = lines.into_iter().flat_map(|line| {
        let stop = counts(&line).then(|| b"stop".to_vec());
        std::iter::once(line).chain(stop)
    });
    with_stop.collect()
}

fn check(said: &str, lines: &[Vec<u8>]) -> Result<()> {
    for failure in ["search failed", "internal error", "panicked"] {
        ensure!(!said.contains(failure), "{said}");
    }
    let asks = |line: &&Vec<u8>| {
        String::from_utf8_lossy(line).split_whitespace().next().is_some_and(|word| word == "go")
    };
    let asked = lines.iter().filter(|line| line.len() < 1 << 20).filter(asks).count();
    let is_answer = |line: &&str| ANSWERS.iter().any(|answer| line.starts_with(answer));
    let answered = said.lines().filter(is_answer).count();
    ensure!(answered == asked, "{answered} answers to {asked} times 'go': {said}");
    Ok(())
}

/// Plays random sessions with at least `commands` lines in all.
fn survives(program: &str, arguments: &[&str], commands: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let session = |lines| {
        let lines = stopping_counts(lines);
        let said = converse(folder.path(), program, arguments, &lines)?;
        check(&said, &lines)
    };
    play_sessions(commands, session).with_context(|| format!("{program} {}", arguments.join(" ")))
}

/// Azimuth has by far the most options, so it gets more commands than any rival.
#[test]
fn azimuth_survives_sessions_without_a_wait() -> Result<()> {
    survives("azimuth", &[], number_of_lines(COMMANDS)? * 2 / 3)
}

#[test]
fn every_rival_survives_sessions_without_a_wait() -> Result<()> {
    let commands = number_of_lines(COMMANDS)? / 3 / RIVALS.len();
    RIVALS.into_iter().try_for_each(|rival| survives("azimuth-rivals", &["play", rival], commands))
}
