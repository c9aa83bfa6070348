//! What can be asked of the labelling on the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::shard::Shard;

/// What to label, by whom, and how deep.
#[derive(Args)]
pub struct LabelOptions {
    /// The UCI engine that labels; it must have MultiPV.
    #[arg(long, required_unless_present = "network")]
    pub engine: Option<PathBuf>,
    /// Label by this Stockfish network (`.nnue`; Stockfish's `export_net` writes its own), without a search; `data
    /// --filter quiet` keeps those positions for which that will do.
    #[arg(long, conflicts_with_all = ["engine", "depth"])]
    pub network: Option<PathBuf>,
    /// Where walks start, all but those of `endings`: files of FENs or EPD, one a line (.zst for compressed ones).
    #[arg(long, num_args = 1..)]
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
    /// Folders of Syzygy tables that label what they know (`--walk endings`).
    #[arg(long)]
    pub syzygy: Option<String>,
    /// Nodes of the search whose leaves are taken (`--walk leaves`).
    #[arg(long, default_value_t = 1_500)]
    pub nodes: u64,
    /// One of so many leaves is taken (`--walk leaves`).
    #[arg(long, default_value_t = 64)]
    pub leaf_every: u64,
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
    /// Engines, or copies of the network, at work, each on a thread of its own.
    #[arg(long, default_value_t = 1)]
    pub engines: u64,
    /// The weights whose beam, or selective search, walks; the engine's own for it where none are given.
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
    /// By the move of the selective search; labelled are leaves of its tree, on which quiescence search stands pat,
    /// and the last positions of its principal variations, each by a search of its own.
    Leaves,
    /// Not at all: random positions with few pieces, labelled by Syzygy tables or a search of their own.
    Endings,
    /// By one of the engine's best moves within half a pawn, until the game is decided: games of the engine against
    /// itself.
    Engine,
}
