//! Command-line options of streams and branches.

use std::path::PathBuf;

use azimuth_search::inference::Backend;
use clap::{Args, ValueEnum};

use crate::label::DEPTH;
use crate::options::{RunOptions, Stored};
use crate::training::StepsOrTime;

/// Endless training on fresh labels.
#[derive(Args)]
pub struct StreamOptions {
    /// Folder of the stream: checkpoint, log, pending rounds and held-out positions.
    #[arg(long)]
    pub folder: PathBuf,
    /// Encoder, losses and optimiser. The learning rate is constant after the warm-up.
    #[command(flatten)]
    pub run: RunOptions,
    /// The positions to label and train on.
    #[command(flatten)]
    pub labels: RoundOptions,
    /// Datasets (.azd) of forced mates of both sides, which define the paper's axis; a network's
    /// labels have none. They are copied to the folder.
    #[arg(long, num_args = 1..)]
    pub mates: Vec<PathBuf>,
    /// The device, and the intervals of checkpoints and log lines.
    #[command(flatten)]
    pub pace: PaceOptions,
    /// Write a checkpoint and stop after this time (90s, 5m) or number of steps (2000); the same
    /// command resumes.
    #[arg(long)]
    pub stop_after: Option<StepsOrTime>,
}

/// A branch: weights from a stream.
#[derive(Args)]
pub struct BranchOptions {
    /// Folder of the stream, which is only read.
    #[arg(long)]
    pub folder: PathBuf,
    /// Number of steps over which the learning rate decays to 0.
    #[arg(long)]
    pub steps: u64,
    /// Weights file to write. The branch keeps its state in a folder next to it (extension
    /// `.branch`), from which the same command resumes. The folder is removed at the end.
    #[arg(long)]
    pub out: PathBuf,
    /// Precision of the stored and measured parameters; 16 bits halve the file.
    #[arg(long, value_enum, default_value_t = Stored::F32)]
    pub stored: Stored,
    /// The positions to label and train on.
    #[command(flatten)]
    pub labels: RoundOptions,
    /// The device, and the intervals of checkpoints and log lines.
    #[command(flatten)]
    pub pace: PaceOptions,
}

/// The labeller and the starts of a round. They may change after a stop; later rounds use the new
/// ones.
#[derive(Args, Clone)]
pub struct RoundOptions {
    /// Label with this Stockfish network (`.nnue`), without a search or with `--quiescence`.
    #[arg(long, required_unless_present = "engine")]
    pub network: Option<PathBuf>,
    /// Label with the value of quiescence search, with the network as its evaluation. The labels of
    /// the beam need it, because the beam has no quiescence search.
    #[arg(long, requires = "network")]
    pub quiescence: bool,
    /// Planner to train for. It determines the labelled positions: children on walks and endings,
    /// and for the selective search also leaves of its searches.
    #[arg(long, value_enum, default_value_t = StreamFor::Selective)]
    pub planner: StreamFor,
    /// Label with this UCI engine, which must support MultiPV.
    #[arg(long, conflicts_with = "network")]
    pub engine: Option<PathBuf>,
    /// Search depth of the engine, in plies. Labels of siblings are noisier at depths 2 to 5 than at
    /// depth 1.
    #[arg(long, default_value_t = DEPTH)]
    pub depth: u32,
    /// Files of FENs or EPD, one per line, at which walks start (also .zst).
    #[arg(long, required = true, num_args = 1..)]
    pub fens: Vec<PathBuf>,
    /// Folders of Syzygy tables, which label the endings that they contain.
    #[arg(long)]
    pub syzygy: Option<String>,
    /// Weights of the selective search that finds leaves [default: its default weights].
    #[arg(long)]
    pub weights: Option<PathBuf>,
    /// Approximate number of positions in a round.
    #[arg(long, default_value_t = 4_000_000)]
    pub round: u64,
    /// Number of threads that label. Each labels one round at a time.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub labellers: u64,
    /// Number of times that each position of a round is used.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub passes: u64,
}

/// Planner for which a stream trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StreamFor {
    /// The beam.
    Beam,
    /// The selective search.
    Selective,
}

/// The device, and the intervals of checkpoints and log lines.
#[derive(Args)]
pub struct PaceOptions {
    /// Device to compute on. A checkpoint continues only on the kind of device that wrote it.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub device: Backend,
    /// Time (90s, 5m) or steps (2000) between checkpoints.
    #[arg(long, default_value = "10m")]
    pub checkpoint_every: StepsOrTime,
    /// Number of steps between log lines.
    #[arg(long, default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..))]
    pub log_every: u64,
    /// Also write the log for TensorBoard: event files in a subfolder of this folder. The subfolder
    /// has the name of the stream or branch, and TensorBoard shows it as a run.
    #[arg(long, value_name = "FOLDER")]
    pub tensorboard: Option<PathBuf>,
}
