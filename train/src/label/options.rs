//! What can be asked of the labelling on the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::shard::Shard;

#[derive(Args)]
pub struct LabelOptions {
    /// The UCI engine that labels; it must have MultiPV.
    #[arg(long)]
    pub engine: PathBuf,
    /// Where walks start: files of FENs or EPD, one a line (.zst for compressed ones).
    #[arg(long, required = true, num_args = 1..)]
    pub fens: Vec<PathBuf>,
    /// The dataset to write, `.azd`; what a killed run left is continued.
    #[arg(long)]
    pub out: PathBuf,
    /// Starts to walk from, drawn at random; of all shards together.
    #[arg(long)]
    pub walks: u64,
    /// Do share I of N of the walks; `data --merge` puts the shares together.
    #[arg(long, default_value = "1/1")]
    pub shard: Shard,
    /// What leads from a position to the next.
    #[arg(long, value_enum, default_value_t = WalkKind::Beam)]
    pub walk: WalkKind,
    /// Depth of the engine's search, in plies.
    #[arg(long, default_value_t = 4)]
    pub depth: u32,
    /// Positions of a walk at most.
    #[arg(long, default_value_t = 6)]
    pub plies: u32,
    /// Moves among which the next position is drawn: those that the beam keeps, or the engine's best.
    #[arg(long, default_value_t = 3)]
    pub width: usize,
    /// Labels kept for the engine's best moves of a position.
    #[arg(long, default_value_t = 6)]
    pub best: usize,
    /// Labels kept for others of its moves, drawn at random.
    #[arg(long, default_value_t = 6)]
    pub others: usize,
    /// Engines at work, each on a thread of its own.
    #[arg(long, default_value_t = 1)]
    pub engines: u64,
    /// The weights whose beam walks; the engine's own where none are given.
    #[arg(long)]
    pub weights: Option<PathBuf>,
    /// Between two notes of how far the work is; what was done since is done again after a kill.
    #[arg(long, default_value = "2s", value_parser = humantime::parse_duration)]
    pub commit_every: Duration,
    /// Seed of starts and walks.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WalkKind {
    /// By one of the moves that a beam of the weights keeps: positions that the search has to rank.
    Beam,
    /// By one of the engine's best moves within half a pawn, until the game is decided: games of the engine against
    /// itself.
    Engine,
}
