//! What can be asked of the labelling on the command line.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub struct LabelOptions {
    /// The UCI engine that labels; it must have MultiPV.
    #[arg(long)]
    pub engine: PathBuf,
    /// Where walks start: files of FENs, one a line (.zst for compressed ones).
    #[arg(long, required = true, num_args = 1..)]
    pub fens: Vec<PathBuf>,
    /// The games to write, `.pgn.zst`; what an earlier run left there is continued.
    #[arg(long)]
    pub out: PathBuf,
    /// Starts to walk from, drawn at random.
    #[arg(long)]
    pub walks: u64,
    /// Depth of the engine's search, in plies.
    #[arg(long, default_value_t = 4)]
    pub depth: u32,
    /// Positions of a walk: from each, one of the moves that the beam would keep leads to the next.
    #[arg(long, default_value_t = 6)]
    pub plies: u32,
    /// Moves that the beam keeps.
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
    /// Seed of starts and walks.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}
