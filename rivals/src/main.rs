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
mod studies;
mod tau;
mod training;
mod twohead;
mod value;
mod weights;

use std::io::{stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use azimuth_cli::{Manual, exit};
use azimuth_search::Planner;
use azimuth_search::inference::Backend;
use azimuth_search::names::name_of;
use azimuth_train::keep_memory::keep_memory;
use candle_core::Device;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use tau::TauOptions;
use training::TrainOptions;
use weights::RivalWeights;

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

/// The rivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rival {
    /// Autoencoder and Siamese comparator under alpha-beta.
    #[value(name = "deepchess")]
    DeepChess,
    /// Hand-written evaluation under alpha-beta.
    Heuristic,
    /// Deep Q-learning.
    #[value(name = "qlearning")]
    QLearning,
    /// DiffuSearch: discrete diffusion over states and actions.
    Diffusion,
    /// Residual policy network.
    Policy,
    /// Policy and value heads under Monte Carlo tree search.
    #[value(name = "twohead")]
    TwoHead,
    /// Residual evaluation network under alpha-beta.
    Value,
    /// HalfKP network with incrementally updated sums, under alpha-beta.
    Nnue,
}

impl Rival {
    /// Trains it. Fails for a rival that learns nothing.
    pub fn train(self, options: &TrainOptions) -> Result<()> {
        match self {
            Self::DeepChess => deepchess::train(options),
            Self::Heuristic => bail!("heuristic: it is written by hand, there is nothing to train"),
            Self::QLearning => qlearning::train(options),
            Self::Diffusion => diffusion::train(options),
            Self::Policy => policy::train(options),
            Self::TwoHead => twohead::train(options),
            Self::Value => value::train(options),
            Self::Nnue => nnue::train(options),
        }
    }

    /// The planner that uses the weights in `path`, or the shipped weights if `None`, on `device`.
    /// Its alpha-beta search remembers `remembered` positions. Fails if that is not 0 and it has no
    /// such search.
    pub fn planner(
        self,
        path: Option<&Path>,
        device: &Device,
        remembered: usize,
    ) -> Result<Box<dyn Planner>> {
        ensure!(
            remembered == 0 || matches!(self, Self::Heuristic | Self::Value | Self::Nnue),
            "{}: --remember: only heuristic, value and nnue remember positions",
            name_of(&self)
        );
        let Some(weights) = &self.weights(path)? else { return heuristic::planner(remembered) };
        match self {
            Self::Heuristic => heuristic::planner(remembered),
            Self::DeepChess => deepchess::planner(weights, device),
            Self::QLearning => qlearning::planner(weights, device),
            Self::Diffusion => diffusion::planner(weights, device),
            Self::Policy => policy::planner(weights, device),
            Self::TwoHead => twohead::planner(weights, device),
            Self::Value => value::planner(weights, device, remembered),
            Self::Nnue => nnue::planner(weights, remembered),
        }
    }

    /// The weights in `path`, or the shipped weights if `None`. Returns `None` for a rival without
    /// weights.
    pub fn weights(self, path: Option<&Path>) -> Result<Option<RivalWeights>> {
        let Some(shipped) = self.shipped() else {
            ensure!(path.is_none(), "{}: it is written by hand and has no weights", name_of(&self));
            return Ok(None);
        };
        let weights = match path {
            Some(path) => RivalWeights::read(path, &name_of(&self))?,
            None => RivalWeights::from_bytes(shipped, &name_of(&self))
                .with_context(|| format!("weights of {} in this program", name_of(&self)))?,
        };
        Ok(Some(weights))
    }

    // Not inlined, because the program would then contain the files several times.
    #[inline(never)]
    fn shipped(self) -> Option<&'static [u8]> {
        let file: &[u8] = match self {
            Self::Heuristic => return None,
            Self::DeepChess => include_bytes!("../weights/deepchess.safetensors"),
            Self::QLearning => include_bytes!("../weights/qlearning.safetensors"),
            Self::Diffusion => include_bytes!("../weights/diffusion.safetensors"),
            Self::Policy => include_bytes!("../weights/policy.safetensors"),
            Self::TwoHead => include_bytes!("../weights/twohead.safetensors"),
            Self::Value => include_bytes!("../weights/value.safetensors"),
            Self::Nnue => include_bytes!("../weights/nnue.safetensors"),
        };
        Some(file)
    }
}
