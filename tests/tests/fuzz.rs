//! Random sessions of valid commands, damaged commands and noise, in any order and also during
//! searches. The engine must not panic or hang, and must give every `go` exactly one legal answer.
//!
//! `AZIMUTH_FUZZ_COMMANDS=1000000 cargo test --release -p azimuth-tests --test fuzz` runs more
//! commands than the default.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_chess::position::Position;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// Number of commands in a session.
const SESSION: usize = 200;

/// Default number of commands in all sessions.
const COMMANDS: usize = 20_000;

/// Number of lines that are sent during a search.
const DURING: usize = 3;

/// Time after which a search is told to stop.
const THINKING: Duration = Duration::from_millis(5);

/// Time after which the engine counts as hanging.
const PATIENCE: Duration = Duration::from_secs(30);

/// Prefixes of the lines that refuse a `go`.
const REFUSED: [&str; 2] =
    ["info string go: a search is running", "info string go: no search begins"];

/// Prefixes of the last line of `go perft`, and of any other `go`.
const COUNTED: [&str; 2] = ["Nodes searched: ", "info string go perft: stopped"];
const ANSWERED: [&str; 1] = ["bestmove "];

const POSITIONS: [&str; 16] = [
    "fen 8/8/8/8/8/2k5/2K5 b - -",
    "fen 8/8/8/8/2k5/2K5/8/8 w - - 0 1",
    "startpos",
    "startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1",
    "startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8",
    "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 99 80 moves b4b3",
    "fen 1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1 moves c1g1",
    "fen 8/8/8/8/8/2k5/8/2K5 b - -",
    "fen 7k/5Q2/5K2/8/8/8/8/8 b - - 0 1",
    "fen k7/8/8/8/8/8/5PPP/2r3K1 w - - 0 1",
    "fen R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    "fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
    "fen 8/8/8/8/8/8/8/8 w - - 0 1",
    "fen rnbqkbnr/pppp1ppp/8/8/4pP2/8/PPPPP1PP/RNBQKBNR b KQkq f3 0 3 moves e4f3",
    "fen 8/PPPPPPPP/8/2k5/8/8/1K6/8 w - - 0 1 moves a7a8q",
];

const GO: [&str; 22] = [
    "",
    "depth 1",
    "depth 3",
    "nodes 200",
    "movetime 1",
    "mate 1",
    "wtime 5 btime 5",
    "wtime -1 btime 3 winc 1 binc 1 movestogo 1",
    "infinite",
    "ponder wtime 10 btime 10",
    "ponder",
    "searchmoves e2e4 a7a8q e1g1 depth 2",
    "searchmoves",
    "depth 99999999999999999999",
    "movetime 18446744073709551615",
    "infinite depth 1 nodes",
    "depth 20",
    "depth many",
    "movetime -5",
    "fast",
    "fast depth 2",
    "wtime 5 btime 5 movestogo 0",
];

const OPTIONS: [&str; 44] = [
    "Hash value 1",
    "Hash value 64",
    "Hash value 65536",
    "hash value -3",
    "Clear Hash",
    "Threads value 1",
    "Threads value 2",
    "Planner value auto",
    "Planner value beam",
    "Planner value selective",
    "Threads value 1025",
    "WeightsFile value <embedded>",
    "WeightsFile value missing.safetensors",
    "WeightsFile value /dev/zero",
    "WeightsFile value .",
    "Backend value cuda",
    "Backend value auto",
    "Precision value bf16",
    "BeamWidth value 64",
    "BeamWidth value 3",
    "SearchDepth value 64",
    "BeamVerify value none",
    "BeamVerify value quiescence",
    "BeamVerify value 4",
    "BeamMode value global",
    "BeamMode value tree",
    "MultiPV value 256",
    "UCI_Chess960 value true",
    "UCI_LimitStrength value true",
    "SyzygyPath value nowhere",
    "LogFile value .",
    "Debug Log File value .",
    "UCI_EngineAbout value Azimuth",
    "UCI_Opponent value none none computer Other",
    "SyzygyProbeDepth value 5",
    "SyzygyProbeLimit value 0",
    "Syzygy50MoveRule value false",
    "nodestime value 10",
    "nodestime value 0",
    "Skill Level value 3",
    "Skill Level value 20",
    "UCI_LimitStrength value false",
    "UCI_Elo value 700",
    "UCI_AnalyseMode value true",
];

const OTHERS: [&str; 25] = [
    "uci",
    "isready",
    "ucinewgame",
    "stop",
    "ponderhit",
    "d",
    "eval",
    "explain",
    "debug on",
    "debug off",
    "bench x",
    "bench 1 1 1 current",
    "bench 1 1 2 current perft",
    "bench 1 1 1 /dev/zero",
    "bench 1 1 1 current plies",
    "go perft 1",
    "go perft 30",
    "go perft",
    "flip",
    "compiler",
    "Nf3",
    "position startpos moves e4 e5",
    "register later",
    "setoption",
    "position",
];

fn valid() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => select(POSITIONS.as_slice()).prop_map(|text| format!("position {text}")),
        4 => select(GO.as_slice()).prop_map(|text| format!("go {text}")),
        3 => select(OPTIONS.as_slice()).prop_map(|text| format!("setoption name {text}")),
        4 => select(OTHERS.as_slice()).prop_map(str::to_owned),
    ]
    .prop_map(String::into_bytes)
}

/// A valid line with bytes replaced, put in, left out or repeated.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let edits = vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..4);
    (valid(), edits).prop_map(|(mut line, edits)| {
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

/// The engine in this process, with pipes for its input and output.
struct Engine {
    input: PipeWriter,
    lines: Receiver<String>,
    threads: [JoinHandle<()>; 2],
    /// The searches that have not been answered yet, oldest first.
    searches: VecDeque<Search>,
    marks: u32,
}

/// A `go`.
struct Search {
    /// The position in which it started.
    root: Position,
    /// Whether it is `go perft`, which has no best move.
    counts: bool,
}

impl Engine {
    fn start() -> Result<Self> {
        let (reader, input) = std::io::pipe()?;
        let (output, writer) = std::io::pipe()?;
        let (sender, lines) = channel();
        let engine = thread::spawn(move || {
            azimuth::uci::run(BufReader::new(reader), writer).expect("answers can be written");
        });
        let listener = thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Ok(Self { input, lines, threads: [engine, listener], searches: VecDeque::new(), marks: 0 })
    }

    /// Sends a line and reads the engine's response.
    fn obey(&mut self, line: &[u8]) -> Result<()> {
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_whitespace();
        if words.next() == Some("go") {
            let root = self.position()?;
            let counts = words.next() == Some("perft");
            self.searches.push_back(Search { root, counts });
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
        self.read_until(&complaint, PATIENCE).map(drop)
    }

    /// Waits for the answer of a running search, and stops the search if it takes too long.
    fn finish_search(&mut self) -> Result<()> {
        let Some(Search { counts, .. }) = self.searches.front() else { return Ok(()) };
        let ends = if *counts { &COUNTED } else { &ANSWERED[..] };
        if self.read_until_any(ends, THINKING).is_err() {
            self.send(b"stop")?;
            self.read_until_any(ends, PATIENCE)?;
        }
        Ok(())
    }

    /// The engine's current position.
    fn position(&mut self) -> Result<Position> {
        self.send(b"d")?;
        let lines = self.read_until("Checkers:", PATIENCE)?;
        let fen = lines.iter().find_map(|line| line.strip_prefix("Fen: ")).context("no FEN")?;
        Position::from_fen(fen)
    }

    fn send(&mut self, line: &[u8]) -> Result<()> {
        self.input.write_all(line)?;
        Ok(self.input.write_all(b"\n")?)
    }

    /// Reads lines up to one that begins with `start`.
    fn read_until(&mut self, start: &str, patience: Duration) -> Result<Vec<String>> {
        self.read_until_any(&[start], patience)
    }

    /// Reads lines up to one that begins with any of `starts`.
    fn read_until_any(&mut self, starts: &[&str], patience: Duration) -> Result<Vec<String>> {
        let mut read: Vec<String> = Vec::new();
        loop {
            let line = self
                .lines
                .recv_timeout(patience)
                .with_context(|| format!("waiting for {starts:?}, the engine said {read:?}"))?;
            self.check(&line)?;
            read.push(line);
            if let Some(line) = read.last()
                && starts.iter().any(|start| line.starts_with(start))
            {
                return Ok(read);
            }
        }
    }

    fn check(&mut self, line: &str) -> Result<()> {
        ensure!(!line.contains("search failed"), "{line}");
        if REFUSED.iter().any(|refused| line.starts_with(refused)) {
            self.searches.pop_back().context("a refusal that nobody asked for")?;
        } else if COUNTED.iter().any(|counted| line.starts_with(counted)) {
            let search = self.searches.pop_front().context("a count that nobody asked for")?;
            ensure!(search.counts, "{line}: a best move was asked for");
        } else if let Some(answer) = line.strip_prefix("bestmove ") {
            let search = self.searches.pop_front().context("an answer that nobody asked for")?;
            ensure!(!search.counts, "{line}: a count was asked for");
            let root = search.root;
            match answer.split(' ').next() {
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
        for thread in self.threads {
            thread.join().map_err(|_| anyhow!("the engine panicked"))?;
        }
        Ok(())
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
    let commands = match std::env::var("AZIMUTH_FUZZ_COMMANDS") {
        Ok(text) => text.parse().context("AZIMUTH_FUZZ_COMMANDS")?,
        Err(_) => COMMANDS,
    };
    // A damaged LogFile option may name any file: in this folder it does no harm.
    let folder = tempfile::tempdir()?;
    std::env::set_current_dir(&folder)?;
    let config = Config {
        cases: u32::try_from(commands / SESSION)?,
        failure_persistence: None,
        ..Config::default()
    };
    let session = |lines: Vec<Vec<u8>>| {
        play(&lines).map_err(|error| TestCaseError::fail(format!("{error:#}")))
    };
    TestRunner::new(config).run(&vec(line(), SESSION), session).map_err(|error| anyhow!("{error}"))
}
