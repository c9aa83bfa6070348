//! Announced mates are true, with and without Syzygy tables: python-chess plays the lines out.
//!
//! `AZIMUTH_MATES=400 cargo test --release -p azimuth-tests --test mates` tries more positions than
//! the default.

use anyhow::{Context, Result, ensure};
use azimuth_tests::{Session, binary, python, root, text, word_after};

/// Positions of the default run.
const POSITIONS: &str = "24";

const NODES: &str = "20000";

#[test]
fn announced_mates_are_mates() -> Result<()> {
    let count = std::env::var("AZIMUTH_MATES").unwrap_or_else(|_| POSITIONS.to_owned());
    let engine = text(&binary("azimuth")?);
    let positions = text(&root().join("tests/data/mates.epd"));
    for options in [
        &["Planner=selective"][..],
        &["Planner=selective", "SyzygyProbeLimit=0"],
        &["Planner=selective", "Threads=2"],
        &["Planner=beam"],
    ] {
        let arguments = [&[engine.as_str(), &positions, &count, NODES], options].concat();
        let said = python("mates.py", &arguments).with_context(|| options.join(" "))?;
        let announced = said.split(' ').next().and_then(|number| number.parse::<u32>().ok());
        let announced = announced.with_context(|| said.clone())?;
        ensure!(announced > 0, "{}: {said}", options.join(" "));
    }
    Ok(())
}

/// `go mate N` finds a mate in at most N moves in every position of the set that has one.
#[test]
fn go_mate_finds_every_mate() -> Result<()> {
    let most: i32 = std::env::var("AZIMUTH_MATES").map_or(3, |_| 5);
    let mut session = Session::start()?;
    let mut count = 0;
    for line in std::fs::read_to_string(root().join("tests/data/mates.epd"))?.lines() {
        let (fen, operations) = line.split_once(" dm ").context("a line has a mate")?;
        let moves: i32 = operations.trim_end_matches(';').parse()?;
        if !(1..=most).contains(&moves) {
            continue;
        }
        count += 1;
        let lines = session.search(&format!("fen {fen} 0 1"), &format!("go mate {moves}"))?;
        // The set has mates that are known, not always the shortest.
        let found = lines.iter().find_map(|line| word_after(line, "mate"));
        let found: i32 = found.with_context(|| format!("{line}: {lines:?}"))?.parse()?;
        ensure!((1..=moves).contains(&found), "{line}: {lines:?}");
    }
    ensure!(count > 50, "{count} mates");
    for (fen, best) in [
        ("Q7/8/5K2/8/7k/8/8/8 w - - 0 1", "bestmove a8g2"),
        ("8/8/4R3/8/8/k7/2K5/8 w - - 0 1", "bestmove e6e4"),
    ] {
        let lines = session.search(&format!("fen {fen}"), "go mate")?;
        ensure!(lines.last().is_some_and(|line| line.starts_with(best)), "{fen}");
    }
    // Without a mate, a search of that depth answers.
    session.search("startpos", "go mate 2")?;
    session.end()
}
