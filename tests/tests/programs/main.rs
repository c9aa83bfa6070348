//! The engine and `azimuth-bench` as built programs: command lines, games in a terminal, matches,
//! and searches that repeat: after `ucinewgame`, and in a fresh process, the same search has the
//! same depths, scores, nodes and lines.

mod bench;
mod command_line;
mod play;

use anyhow::{Context, Result, ensure};
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_tests::Session;

/// Positions in addition to those of `bench`: endgames for the tablebases, mates, castling, and a
/// long history.
const MORE_POSITIONS: [&str; 4] = [
    "fen 8/8/8/8/8/2k5/7p/2K5 b - - 0 1",
    "fen 5k2/pp4pp/4p3/8/8/5bPP/PP3P2/3qNK2 b - - 0 1",
    "fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 98 90",
    "startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6",
];

/// Each planner, with a search of some thousand nodes.
const PLANNERS: [(&str, &str); 2] = [("selective", "go depth 9"), ("beam", "go depth 3")];

/// The parts of an `info` line that do not depend on the clock.
fn facts(line: &str) -> String {
    let left_out = ["nps", "time"];
    let mut words = line.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match left_out.contains(&word) {
            true => drop(words.next()),
            false => kept.push(word),
        }
    }
    kept.join(" ")
}

fn search(session: &mut Session, position: &str, go: &str) -> Result<Vec<String>> {
    let said = session.search(position, go)?;
    let facts: Vec<String> = said.iter().map(|line| facts(line)).collect();
    ensure!(facts.iter().any(|line| line.contains(" nodes ")), "{said:?}");
    Ok(facts)
}

fn begin(planner: &str) -> Result<Session> {
    let mut session = Session::start()?;
    session.set("Planner", planner)?;
    Ok(session)
}

/// Stockfish calls this reprosearch.
#[test]
fn searches_repeat_after_ucinewgame_and_in_a_fresh_process() -> Result<()> {
    let bench = BENCH_POSITIONS.iter().map(|fen| format!("fen {fen}"));
    let positions: Vec<String> = bench.chain(MORE_POSITIONS.map(str::to_owned)).collect();
    for (planner, go) in PLANNERS {
        let mut session = begin(planner)?;
        let first = positions.iter().map(|position| {
            session.send("ucinewgame")?;
            search(&mut session, position, go)
        });
        let first = first.collect::<Result<Vec<_>>>()?;
        // The tables are full of other positions by now, and `isready` has searched.
        for (position, expected) in positions.iter().zip(&first).rev() {
            session.said("ucinewgame")?;
            let again = search(&mut session, position, go)?;
            ensure!(again == *expected, "{planner}, {position}: {again:?}, at first {expected:?}");
        }
        session.end()?;
        // Each start reads the weights, so only some positions are searched in a fresh process.
        for (position, expected) in positions.iter().zip(&first).step_by(6) {
            let mut fresh = begin(planner)?;
            let again = search(&mut fresh, position, go).context(planner)?;
            ensure!(again == *expected, "{planner}, {position}: {again:?}, at first {expected:?}");
            fresh.end()?;
        }
    }
    Ok(())
}
