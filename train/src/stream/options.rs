//! The command line of streams and branches.

use std::path::PathBuf;

use clap::Args;

use crate::options::{RunOptions, Stored};
use crate::training::StepsOrTime;

/// Training without end on fresh labels.
#[derive(Args)]
pub struct StreamOptions {
    /// The folder of the stream: its checkpoint, its log, the rounds that wait, the held-out positions.
    #[arg(long)]
    pub folder: PathBuf,
    /// What to train, and how. The learning rate stays after the warm-up.
    #[command(flatten)]
    pub run: RunOptions,
    /// The positions to label and train on.
    #[command(flatten)]
    pub labels: RoundOptions,
    /// Datasets (.azd) of forced mates for the paper's axis, which lies between those of the two sides: a network's labels
    /// have none. The folder gets copies.
    #[arg(long, num_args = 1..)]
    pub mates: Vec<PathBuf>,
    /// How often it leaves something on the disk.
    #[command(flatten)]
    pub pace: PaceOptions,
    /// Stop after this time (90s, 5m) or this many steps (2000) with a checkpoint; the same command continues.
    #[arg(long)]
    pub stop_after: Option<StepsOrTime>,
}

/// A branch: weights from a stream.
#[derive(Args)]
pub struct BranchOptions {
    /// The folder of the stream, of which nothing is changed.
    #[arg(long)]
    pub folder: PathBuf,
    /// Steps over which the learning rate falls to 0.
    #[arg(long)]
    pub steps: u64,
    /// The weights file to write. The branch works in a folder beside it, with `.branch` in place of its ending, from
    /// which the same command continues, and which it removes at its end.
    #[arg(long)]
    pub out: PathBuf,
    /// How the parameters are stored, and measured; 16 bits halve the file.
    #[arg(long, value_enum, default_value_t = Stored::F32)]
    pub stored: Stored,
    /// The positions to label and train on.
    #[command(flatten)]
    pub labels: RoundOptions,
    /// How often it leaves something on the disk.
    #[command(flatten)]
    pub pace: PaceOptions,
}

/// Who labels the positions of a round, and where they come from. They may be others after a stop: rounds to come
/// follow them.
#[derive(Args, Clone)]
pub struct RoundOptions {
    /// Label by this Stockfish network (`.nnue`), without a search.
    #[arg(long, required_unless_present = "engine")]
    pub network: Option<PathBuf>,
    /// Label by this UCI engine, which must have MultiPV.
    #[arg(long, conflicts_with = "network")]
    pub engine: Option<PathBuf>,
    /// Depth of the engine's search, in plies.
    #[arg(long, default_value_t = 4)]
    pub depth: u32,
    /// Where walks start: files of FENs or EPD, one a line (.zst for compressed ones).
    #[arg(long, required = true, num_args = 1..)]
    pub fens: Vec<PathBuf>,
    /// Folders of Syzygy tables that label the endings that they know.
    #[arg(long)]
    pub syzygy: Option<String>,
    /// The weights whose selective search finds leaves; the engine's own for it where none are given.
    #[arg(long)]
    pub weights: Option<PathBuf>,
    /// Positions of a round, about.
    #[arg(long, default_value_t = 4_000_000)]
    pub round: u64,
}

/// How often a run leaves something on the disk.
#[derive(Args)]
pub struct PaceOptions {
    /// Time (90s, 5m) or steps (2000) between checkpoints.
    #[arg(long, default_value = "10m")]
    pub checkpoint_every: StepsOrTime,
    /// Steps between lines of the log.
    #[arg(long, default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..))]
    pub log_every: u64,
}
