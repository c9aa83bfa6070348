//! Announced mates are true, with and without Syzygy tables: python-chess plays the lines out.
//!
//! `AZIMUTH_MATES=400 cargo test --release -p azimuth-tests --test mates` tries more positions than
//! the default.

use anyhow::{Context, Result, ensure};
use azimuth_tests::{binary, python, root, text};

/// Positions of the default run.
const POSITIONS: &str = "40";

const NODES: &str = "20000";

#[test]
fn announced_mates_are_mates() -> Result<()> {
    let count = std::env::var("AZIMUTH_MATES").unwrap_or_else(|_| POSITIONS.to_owned());
    let (engine, data) = (text(&binary("azimuth")?), root().join("tests/data"));
    let positions = text(&data.join("mates.epd"));
    let tables = format!("SyzygyPath={}", data.join("syzygy").display());
    for options in [
        &["Planner=selective"][..],
        &["Planner=selective", &tables],
        &["Planner=selective", "Threads=2"],
        &["Planner=beam", &tables],
    ] {
        let arguments = [&[&engine, &positions, &count, NODES], options].concat();
        let said = python("mates.py", &arguments).with_context(|| options.join(" "))?;
        let announced = said.split(' ').next().and_then(|number| number.parse::<u32>().ok());
        let announced = announced.with_context(|| said.clone())?;
        ensure!(announced > 0, "{}: {said}", options.join(" "));
    }
    Ok(())
}
