//! `azimuth-rivals`: trains, plays and measures the other systems described in Azimuth's documents.

mod board;
mod deepchess;
mod diffusion;
mod heuristic;
mod network;
mod nnue;
mod planners;
mod policy;
mod qlearning;
mod rival;
mod tau;
mod training;
mod twohead;
mod value;
mod weights;

use std::io::{stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use azimuth_cli::{Manual, exit};
use azimuth_search::inference::Backend;
use azimuth_search::names::name_of;
use azimuth_train::keep_memory::keep_memory;
use clap::{CommandFactory, Parser, Subcommand};

use rival::Rival;
use tau::TauOptions;
use training::TrainOptions;

/// The text at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  azimuth-rivals play value                                            speaks UCI
  azimuth-rivals train nnue --data games.pgn --out nnue.safetensors    trains on labelled games, with the document's sizes
  azimuth-rivals train policy --preset small --size blocks=6 ...       trains with the small sizes, except for blocks
  azimuth-rivals tau nnue --data positions.pgn                         measures how well it orders labelled positions";

/// Maximum of `--remember`, in positions.
const MOST_REMEMBERED: u64 = 1 << 26;

/// Train, play and measure the eight other systems of Azimuth's documents.
#[derive(Parser)]
#[command(name = "azimuth-rivals", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train a rival and write its weights; resume from its checkpoint if one exists.
    Train {
        /// Rival to train.
        #[arg(value_enum)]
        rival: Rival,
        #[command(flatten)]
        options: TrainOptions,
    },
    /// Play: speak UCI on standard input and output.
    Play {
        /// Rival to play.
        #[arg(value_enum)]
        rival: Rival,
        /// Weights file [default: the shipped weights].
        #[arg(long)]
        weights: Option<PathBuf>,
        /// Device of the network; the rivals heuristic and nnue always use the CPU.
        #[arg(long, value_enum, default_value_t = Backend::Cpu)]
        device: Backend,
        /// About how many positions alpha-beta remembers, at least 65,536 if any (heuristic, value,
        /// nnue); the documents' searches remember none.
        #[arg(
            long,
            value_name = "POSITIONS",
            default_value_t = 0,
            value_parser = clap::value_parser!(u64).range(..=MOST_REMEMBERED),
        )]
        remember: u64,
    },
    Tau(TauOptions),
    #[command(flatten)]
    Manual(Manual),
}

/// Steps allocate and free megabytes, see [`keep_memory`].
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    keep_memory();
    exit("azimuth-rivals", || run(arguments))
}

fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Train { rival, options } => rival.train(&options),
        Command::Play { rival, weights, device, remember } => {
            let device = device.device().context("--device")?;
            let remembered = usize::try_from(remember)?;
            let name = format!("Azimuth rival {} {}", name_of(&rival), env!("CARGO_PKG_VERSION"));
            let build = Box::new(move || rival.planner(weights.as_deref(), &device, remembered));
            azimuth::uci::run_planner(name, "azimuth-rivals", build, stdin().lock(), stdout())
        }
        Command::Tau(options) => tau::run(&options),
        Command::Manual(manual) => manual.run(Arguments::command()),
    }
}
