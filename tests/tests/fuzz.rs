//! Random sessions of valid commands, damaged commands and noise, in any order and also during
//! searches. The engine and the rivals must not panic or hang, and must give every `go` exactly one
//! legal answer.
//!
//! `AZIMUTH_FUZZ_COMMANDS=1000000 cargo test --release -p azimuth-tests --test fuzz` runs more
//! commands than the default.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, PipeWriter, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_chess::pgn::decode;
use azimuth_chess::position::Position;
use azimuth_tests::{Folder, RIVALS, binary, read_lines, wait};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

/// Default number of lines in all sessions with waits, and without.
const LINES: usize = 5_000;
const LINES_AT_ONCE: usize = 2_400;

/// Number of lines of a session.
const SESSION: usize = 200;

/// Number of lines that are sent during a search.
const DURING: usize = 3;

/// Time after which a search is told to stop.
const THINKING: Duration = Duration::from_millis(5);

/// Time after which the engine counts as hanging.
const PATIENCE: Duration = Duration::from_secs(30);

/// How the one answer to a `go` begins: with a move, with the end of a count, or with a refusal. A
/// malformed `go` other than `go perft` is answered with a move, too.
const MOVE: [&str; 1] = ["bestmove "];
const COUNT: [&str; 2] = ["Nodes searched: ", "info string go perft: stopped"];
const REFUSAL: [&str; 3] = [
    "info string go: a search is running",
    "info string go: no search begins: 'perft'",
    "info string go perft: there is no position",
];

fn begins(line: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| line.starts_with(start))
}

/// Lines of every kind, valid ones and some that are refused.
const COMMANDS: &str = include_str!("../data/uci-commands.txt");

/// A line of [`COMMANDS`].
fn valid() -> impl Strategy<Value = Vec<u8>> {
    let mut kinds: [Vec<&str>; 4] = Default::default();
    for line in COMMANDS.lines() {
        let kind = ["position", "go", "setoption"].iter().position(|kind| line.starts_with(kind));
        kinds[kind.unwrap_or(3)].push(line);
    }
    let [positions, searches, options, others] = kinds.map(select);
    prop_oneof![4 => positions, 4 => searches, 3 => options, 4 => others]
        .prop_map(|line| line.as_bytes().to_vec())
}

/// A valid line with bytes replaced, inserted, removed or repeated. `bench` and `genfens` are left
/// out, because nothing interrupts them if the damage makes their limit too large.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let edits = vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..4);
    let endless = |line: &[u8]| line.starts_with(b"bench") || line.starts_with(b"genfens");
    let line = valid().prop_filter("endless", move |line| !endless(line));
    (line, edits).prop_map(|(mut line, edits)| {
        for (place, byte, kind) in edits {
            if line.is_empty() {
                break;
            }
            let place = place.index(line.len());
            match kind {
                0 => line[place] = byte,
                1 => line.insert(place, byte),
                2 => drop(line.remove(place)),
                _ => line.extend_from_within(place..),
            }
        }
        line
    })
}

/// A line without its line break.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        600 => valid(),
        300 => damaged(),
        99 => vec(any::<u8>(), 0..60),
        1 => (any::<u8>(), 1_000_000..1_100_000usize).prop_map(|(byte, length)| vec![byte; length]),
    ]
    .prop_map(|mut line| {
        line.retain(|&byte| byte != b'\n');
        line
    })
}

/// The number of lines that `AZIMUTH_FUZZ_COMMANDS` asks for, or `usual`.
fn number_of_lines(usual: usize) -> Result<usize> {
    let number = std::env::var("AZIMUTH_FUZZ_COMMANDS");
    number.map_or(Ok(usual), |number| number.parse()).context("AZIMUTH_FUZZ_COMMANDS")
}

/// Plays random sessions with at least this number of lines in all. A failure has the shortest
/// session that was found to fail.
fn play_sessions(lines: usize, play: impl Fn(Vec<Vec<u8>>) -> Result<()>) -> Result<()> {
    let cases = u32::try_from(lines.div_ceil(SESSION))?;
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let session = |lines: Vec<Vec<u8>>| {
        play(lines).map_err(|error| TestCaseError::fail(format!("{error:#}")))
    };
    TestRunner::new(config).run(&vec(line(), SESSION), session).map_err(|error| anyhow!("{error}"))
}

/// The engine in this process, with pipes for its input and output.
struct Engine {
    input: PipeWriter,
    lines: Receiver<String>,
    thread: JoinHandle<()>,
    /// The positions of the searches that have not been answered yet, oldest first. `go perft` has
    /// none, because it has no best move.
    searches: VecDeque<Option<Position>>,
    marks: u32,
}

impl Engine {
    fn start() -> Result<Self> {
        let (reader, input) = std::io::pipe()?;
        let (output, writer) = std::io::pipe()?;
        let thread = thread::spawn(move || {
            azimuth::uci::run(BufReader::new(reader), writer).expect("answers can be written");
        });
        let lines = read_lines(output);
        Ok(Self { input, lines, thread, searches: VecDeque::new(), marks: 0 })
    }

    /// Sends a line and reads the engine's response.
    fn obey(&mut self, line: &[u8]) -> Result<()> {
        let text = decode(line);
        let mut words = text.split_whitespace();
        if words.next() == Some("go") {
            let root = self.position()?;
            self.searches.push_back((words.next() != Some("perft")).then_some(root));
        }
        self.send(line)?;
        self.synchronise()
    }

    /// Reads the engine's response to all lines so far: sends an unknown command and waits for its
    /// error.
    fn synchronise(&mut self) -> Result<()> {
        self.marks += 1;
        let mark = format!("mark-{}", self.marks);
        self.send(mark.as_bytes())?;
        let complaint = format!("info string unknown command '{mark}'");
        self.read_until(&[complaint.as_str()], PATIENCE).map(drop)
    }

    /// Waits for the answer of a running search, and stops the search if it takes too long.
    fn finish_search(&mut self) -> Result<()> {
        let Some(root) = self.searches.front() else { return Ok(()) };
        let ends = if root.is_some() { &MOVE[..] } else { &COUNT };
        if self.read_until(ends, THINKING).is_err() {
            self.send(b"stop")?;
            self.read_until(ends, PATIENCE)?;
        }
        Ok(())
    }

    /// The engine's current position.
    fn position(&mut self) -> Result<Position> {
        self.send(b"d")?;
        let lines = self.read_until(&["Checkers:"], PATIENCE)?;
        let fen = lines.iter().find_map(|line| line.strip_prefix("Fen: ")).context("no FEN")?;
        Position::from_fen(fen)
    }

    fn send(&mut self, line: &[u8]) -> Result<()> {
        self.input.write_all(line)?;
        Ok(self.input.write_all(b"\n")?)
    }

    /// Reads lines up to one that begins with any of `starts`.
    fn read_until(&mut self, starts: &[&str], patience: Duration) -> Result<Vec<String>> {
        let mut read: Vec<String> = Vec::new();
        loop {
            let line = self
                .lines
                .recv_timeout(patience)
                .with_context(|| format!("waiting for {starts:?}, the engine said {read:?}"))?;
            self.check(&line)?;
            let is_last = begins(&line, starts);
            read.push(line);
            if is_last {
                return Ok(read);
            }
        }
    }

    fn check(&mut self, line: &str) -> Result<()> {
        ensure!(!line.contains("search failed"), "{line}");
        let unasked = || format!("{line}: nobody asked for it");
        if begins(line, &REFUSAL) {
            self.searches.pop_back().with_context(unasked)?;
        } else if begins(line, &COUNT) {
            let root = self.searches.pop_front().with_context(unasked)?;
            ensure!(root.is_none(), "{line}: a best move was asked for");
        } else if begins(line, &MOVE) {
            let root = self.searches.pop_front().with_context(unasked)?;
            let root = root.with_context(|| format!("{line}: a count was asked for"))?;
            match line.split(' ').nth(1) {
                // The last position was refused.
                Some("0000") => {}
                Some("(none)") => ensure!(!root.has_legal_move(), "{line}: {}", root.fen(true)),
                mv => drop(root.parse_move(mv.unwrap_or_default())?),
            }
        }
        Ok(())
    }

    /// Closes the input and waits for the engine to end.
    fn end(mut self) -> Result<()> {
        self.finish_search()?;
        drop(self.input);
        self.thread.join().map_err(|_| anyhow!("the engine panicked"))
    }
}

fn play(lines: &[Vec<u8>]) -> Result<()> {
    let mut engine = Engine::start()?;
    let mut during = 0;
    for line in lines {
        engine.obey(line)?;
        during = if engine.searches.is_empty() { 0 } else { during + 1 };
        if during > DURING {
            engine.finish_search()?;
        }
    }
    engine.end()
}

#[test]
fn random_sessions_are_survived() -> Result<()> {
    // A damaged LogFile option may name any file: in this folder it does no harm.
    let folder = tempfile::tempdir()?;
    std::env::set_current_dir(&folder)?;
    play_sessions(number_of_lines(LINES)?, |lines| play(&lines))
}

/// Sends all lines as fast as a program takes them, closes the input and returns what the program
/// says.
fn converse(
    folder: &Folder,
    program: &str,
    arguments: &[&str],
    lines: &[Vec<u8>],
) -> Result<String> {
    let mut child = Command::new(binary(program)?)
        .args(arguments)
        // A damaged LogFile may name any file: here it does no harm.
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(File::create(folder.at("said"))?)
        .stderr(File::create(folder.at("errors"))?)
        .spawn()?;
    let mut input = child.stdin.take().context("no input")?;
    let mut sent = lines.join(&b'\n');
    sent.push(b'\n');
    let sender = thread::spawn(move || input.write_all(&sent));
    let status = wait(&mut child, azimuth_tests::PATIENCE)?.context("it does not end")?;
    let errors = folder.read("errors")?;
    ensure!(status.success() && errors.is_empty(), "{status}: {errors}");
    let sent = sender.join().map_err(|_| anyhow!("the sender panicked"))?;
    sent.context("the program took not all")?;
    Ok(String::from_utf8_lossy(&std::fs::read(folder.at("said"))?).into_owned())
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
    let asks = |line: &&Vec<u8>| decode(line).split_whitespace().next() == Some("go");
    let asked = lines.iter().filter(|line| line.len() < 1 << 20).filter(asks).count();
    let is_answer = |line: &&str| [&MOVE[..], &COUNT, &REFUSAL].iter().any(|it| begins(line, it));
    let answered = said.lines().filter(is_answer).count();
    ensure!(answered == asked, "{answered} answers to {asked} times 'go': {said}");
    Ok(())
}

/// Plays random sessions with at least `commands` lines in all.
fn survives(program: &str, arguments: &[&str], commands: usize) -> Result<()> {
    let folder = Folder::new()?;
    let session = |lines| {
        let lines = stopping_counts(lines);
        let said = converse(&folder, program, arguments, &lines)?;
        check(&said, &lines)
    };
    play_sessions(commands, session).with_context(|| format!("{program} {}", arguments.join(" ")))
}

/// Azimuth has by far the most options, so it gets more commands than any rival.
#[test]
fn azimuth_survives_sessions_without_a_wait() -> Result<()> {
    survives("azimuth", &[], number_of_lines(LINES_AT_ONCE)? * 2 / 3)
}

#[test]
fn every_rival_survives_sessions_without_a_wait() -> Result<()> {
    let commands = number_of_lines(LINES_AT_ONCE)? / 3 / RIVALS.len();
    RIVALS.into_iter().try_for_each(|rival| survives("azimuth-rivals", &["play", rival], commands))
}
