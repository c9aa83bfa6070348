//! A full game against Stockfish, played by python-chess.

use anyhow::Result;
use azimuth_tests::{binary, python, stockfish};

#[test]
fn a_full_game_against_stockfish_ends_by_the_rules() -> Result<()> {
    let (azimuth, stockfish) = (binary("azimuth")?, stockfish()?);
    let printed = python("game.py", &[&azimuth.to_string_lossy(), &stockfish.to_string_lossy()])?;
    let last = printed.lines().last().unwrap_or_default();
    assert!(last.starts_with("2 games finished"), "{printed}");
    Ok(())
}
