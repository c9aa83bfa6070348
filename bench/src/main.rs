//! `azimuth-bench`: how fast the engine is, measured.

mod speed;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measurements of the Azimuth chess engine.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Time a move at depth 1 to 6, and the search's scored positions a second beside the encoder's
    /// alone.
    Speed {
        /// The weights file; the engine's own where none is given.
        #[arg(long)]
        weights: Option<PathBuf>,
        /// Moves kept at a node.
        #[arg(long, default_value_t = 3)]
        width: usize,
        /// Deepest ply.
        #[arg(long, default_value_t = 6)]
        depth: u32,
        /// Rounds over all positions; the median round counts.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
}

fn main() -> ExitCode {
    let Command::Speed { weights, width, depth, rounds } = Arguments::parse().command;
    match speed::measure(weights.as_deref(), width, depth, rounds.max(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("azimuth-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
