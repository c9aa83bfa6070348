//! Random sessions of UCI: their lines are valid ones, damaged ones and noise.

use anyhow::{Context, Result, anyhow};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

/// Number of lines of a session.
const SESSION: usize = 200;

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
    "BeamPolicy value true",
    "BeamPolicy value false",
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

const OTHERS: [&str; 31] = [
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
    "go perft 128",
    "go perft 100000",
    "go perft",
    "genfens 2 seed 1 book None",
    "genfens 1 seed 1 book /dev/zero",
    "genfens 1 seed 1 book None plies 101",
    "genfens 4294967296 seed x",
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
pub fn number_of_lines(usual: usize) -> Result<usize> {
    let number = std::env::var("AZIMUTH_FUZZ_COMMANDS");
    number.map_or(Ok(usual), |number| number.parse()).context("AZIMUTH_FUZZ_COMMANDS")
}

/// Plays random sessions with at least this number of lines in all. A failure has the shortest
/// session that was found to fail.
pub fn play_sessions(lines: usize, play: impl Fn(Vec<Vec<u8>>) -> Result<()>) -> Result<()> {
    let cases = u32::try_from(lines.div_ceil(SESSION))?;
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let session = |lines: Vec<Vec<u8>>| {
        play(lines).map_err(|error| TestCaseError::fail(format!("{error:#}")))
    };
    TestRunner::new(config).run(&vec(line(), SESSION), session).map_err(|error| anyhow!("{error}"))
}
