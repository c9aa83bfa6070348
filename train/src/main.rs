//! `azimuth-train`: labelled games in, weights out.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use azimuth::command_line::{Manual, exit, print_line};
use azimuth::embedded_weights::Embedded;
use azimuth::inference::Backend;
use clap::{CommandFactory, Parser, Subcommand};

use azimuth_train::data::command::DataCommand;
use azimuth_train::data::dataset::read_all;
use azimuth_train::export::ExportOptions;
use azimuth_train::label::Talk;
use azimuth_train::options::{DataOptions, TrainOptions};
use azimuth_train::{inspect, label, run as training, solis, space, stream, sweep};

/// Trains and measures encoders for the Azimuth chess engine.
#[derive(Parser)]
#[command(name = "azimuth-train", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train an encoder and write a weights file; continues where its checkpoint exists.
    Train(TrainOptions),
    /// Train without end on positions labelled as it goes; continues where its checkpoint exists.
    Stream(stream::StreamOptions),
    /// Write a weights file from a stream: its learning rate falls to 0 aside from the stream, which goes on.
    Branch(stream::BranchOptions),
    /// Train a list of encoders one after another and write one table; continues what was begun.
    Sweep(sweep::SweepOptions),
    /// Pack labelled positions of any format into one dataset; look into, filter, merge, convert datasets.
    Data(DataCommand),
    /// Have a UCI engine label positions that the beam visits; continues what was begun.
    Label(label::LabelOptions),
    /// Write a weights file from a checkpoint, or a checkpoint of the paper's authors from a weights file.
    Export(ExportOptions),
    /// Write a weights file from a checkpoint of the paper's authors.
    Import(solis::ImportOptions),
    Embed(inspect::EmbedOptions),
    Map(inspect::MapOptions),
    Neighbours(inspect::NeighboursOptions),
    Plot(inspect::PlotOptions),
    /// Measure a weights file on the held-out games of data files.
    Eval {
        /// The weights file; the engine's own for the beam where none is given.
        #[arg(long)]
        weights: Option<PathBuf>,
        #[command(flatten)]
        data: DataOptions,
        /// Measure every game, not only those held out when training (for files of others).
        #[arg(long)]
        all: bool,
        /// End with one line of JSON.
        #[arg(long)]
        json: bool,
        /// Where to compute.
        #[arg(long, value_enum, default_value_t = Backend::Cpu)]
        device: Backend,
    },
    #[command(flatten)]
    Manual(Manual),
}

impl Command {
    /// Whether it trains sparse encoders on the CPU, as far as its own words say.
    fn trains_sparse_on_cpu(&self) -> bool {
        match self {
            Self::Train(options) => options.is_sparse_on_cpu(),
            Self::Sweep(options) => options.is_sparse_on_cpu(),
            Self::Stream(_) | Self::Branch(_) => true,
            _ => false,
        }
    }
}

/// Has candle compute on the thread that asks. The sparse encoder's tensors are small: threads that wait for one
/// another inside every operation keep all cores busy and are no faster than one of them.
fn one_thread_in_candle() {
    for name in ["RAYON_NUM_THREADS", "CANDLE_NUM_THREADS"] {
        if std::env::var_os(name).is_none() {
            // SAFETY: no other thread runs yet.
            unsafe { std::env::set_var(name, "1") };
        }
    }
}

/// Steps allocate and free megabytes; the system's allocator gives them back to the kernel each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.command.trains_sparse_on_cpu() {
        one_thread_in_candle();
    }
    exit("azimuth-train", run(arguments))
}

fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Train(options) => train(&options),
        Command::Stream(options) => stream::stream(&options),
        Command::Branch(options) => stream::branch(&options),
        Command::Sweep(options) => sweep::sweep(&options),
        Command::Data(command) => command.run(),
        Command::Label(options) => label::label(&options, Talk::Aloud),
        Command::Export(options) => options.run(),
        Command::Import(options) => solis::import(&options),
        Command::Embed(options) => options.run(),
        Command::Map(options) => options.run(),
        Command::Neighbours(options) => options.run(),
        Command::Plot(options) => options.run(),
        Command::Manual(manual) => manual.run(Arguments::command()),
        Command::Eval { weights, data, all, json, device } => {
            let weights = Embedded::Beam.or_read(weights.as_deref())?;
            let device = device.device().context("--device")?;
            let positions = match all {
                true => read_all(&data.data, data.sample.unwrap_or(usize::MAX))?,
                false => data.read(&weights.metadata.architecture, &device)?.validation,
            };
            let metrics = space::evaluate(&weights, &positions, &device)?;
            print_line(format_args!("positions              {:>10}", metrics.positions))?;
            print_line(format_args!("Kendall tau-b          {:>10.4}", metrics.tau))?;
            print_line(format_args!("Spearman               {:>10.4}", metrics.spearman))?;
            print_line(format_args!("sibling accuracy       {:>10.4}", metrics.sibling))?;
            print_line(format_args!("R2                     {:>10.4}", metrics.r2))?;
            print_line(format_args!("calibration error      {:>10.4}", metrics.ece))?;
            print_line(format_args!("error, mean            {:>+10.4}", metrics.bias))?;
            print_line(format_args!("error, rms             {:>10.4}", metrics.rms))?;
            let decided = metrics.decided;
            for (kind, share) in [
                ("won, above 95%", decided.won),
                ("drawn, 35% to 65%", decided.drawn),
                ("lost, below 5%", decided.lost),
            ] {
                if let Some(share) = share {
                    print_line(format_args!("{kind:<22} {:>9.1}%", 100.0 * share))?;
                }
            }
            if json {
                print_line(serde_json::to_string(&metrics)?)?;
            }
            Ok(())
        }
    }
}

fn train(options: &TrainOptions) -> Result<()> {
    let (compute, output) = (options.compute()?, options.output());
    // Before the data, which takes a while to read.
    let mut config = options.config()?;
    let _claims = options.claim()?;
    let data = options.data.read(&config.architecture, &compute.device)?;
    config.data = data.files.clone();
    if let Some(outcome) = training::train(&config, &data, &compute, &output)? {
        eprintln!("{} steps at {:.0} positions/s", outcome.steps, outcome.speed);
        print_line(serde_json::to_string(&outcome.measured)?)?;
    }
    Ok(())
}
