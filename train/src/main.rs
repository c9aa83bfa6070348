//! `azimuth-train`: trains encoders from labelled positions.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use azimuth_cli::{Manual, exit, print_line, say};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use azimuth_train::data::command::DataCommand;
use azimuth_train::evaluation::EvalOptions;
use azimuth_train::export::ExportOptions;
use azimuth_train::keep_memory::keep_memory;
use azimuth_train::options::{DataOptions, TrainOptions};
use azimuth_train::policy::PolicyOptions;
use azimuth_train::ranks::{self, Ranks, share_of};
use azimuth_train::{inspect, label, run, solis};

/// Train and measure encoders for the Azimuth chess engine.
#[derive(Parser)]
#[command(name = "azimuth-train", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train an encoder and write a weights file; resumes from its checkpoint if there is one.
    Train(Box<TrainOptions>),
    /// Pack labelled positions of any format into one dataset; inspect, filter, merge or convert
    /// datasets.
    Data(DataCommand),
    /// Label the positions of walks with a UCI engine or a network; resumes an interrupted run.
    Label(label::LabelOptions),
    Policy(PolicyOptions),
    /// Write a weights file from a checkpoint, or convert a weights file: to ONNX, to a checkpoint
    /// with the names of the paper's authors, or to another direction.
    Export(ExportOptions),
    /// Write a weights file from a checkpoint of the paper's authors.
    Import(solis::ImportOptions),
    Embed(inspect::EmbedOptions),
    Map(inspect::MapOptions),
    Neighbours(inspect::NeighboursOptions),
    Plot(inspect::PlotOptions),
    Eval(EvalOptions),
    #[command(flatten)]
    Manual(Manual),
}

impl Command {
    fn trains_sparse_on_cpu(&self) -> bool {
        match self {
            Self::Train(options) => options.is_sparse_on_cpu(),
            Self::Policy(_) => true,
            _ => false,
        }
    }
}

/// Makes candle compute on the calling thread. The sparse encoder's tensors are small: threads that
/// synchronise in every operation occupy all cores and are no faster than one.
fn one_thread_in_candle() {
    for name in ["RAYON_NUM_THREADS", "CANDLE_NUM_THREADS"] {
        if std::env::var_os(name).is_none() {
            // SAFETY: no other thread runs yet.
            unsafe { std::env::set_var(name, "1") };
        }
    }
}

/// Steps allocate and free megabytes, see [`keep_memory`].
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    exit("azimuth-train", || {
        let arguments = parse(std::env::args_os().collect())?;
        if arguments.command.trains_sparse_on_cpu() {
            one_thread_in_candle();
            keep_memory();
        }
        run(arguments)
    })
}

/// Parses a command line, and the file of `train --config`. Ends the process if clap refuses it.
fn parse(mut words: Vec<OsString>) -> Result<Arguments> {
    let mut command = Arguments::command();
    let trains = words.get(1).is_some_and(|word| word == "train");
    if trains && TrainOptions::insert_file(&mut words, 2)? {
        command = command.mut_subcommand("train", |train| train.args_override_self(true));
    }
    let matches = command.get_matches_from(words);
    let mut arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if let (Command::Train(options), Some((_, matches))) =
        (&mut arguments.command, matches.subcommand())
    {
        options.remember(matches);
    }
    Ok(arguments)
}

fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Train(options) => {
            let ranks = ranks::join()?;
            ranks.end(train(&options, &*ranks))
        }
        Command::Data(command) => command.run(),
        Command::Label(options) => label::label(&options),
        Command::Export(options) => options.run(),
        Command::Import(options) => solis::import(&options),
        Command::Embed(options) => options.run(),
        Command::Map(options) => options.run(),
        Command::Neighbours(options) => options.run(),
        Command::Plot(options) => options.run(),
        Command::Manual(manual) => manual.run(Arguments::command()),
        Command::Eval(options) => options.run(),
        Command::Policy(options) => options.run(),
    }
}

fn train(options: &TrainOptions, ranks: &dyn Ranks) -> Result<()> {
    let (compute, output) = (options.compute(ranks.on_machine())?, options.output());
    // Options and claims are checked before the data are read, which takes a while.
    let mut config = options.config()?;
    share_of(ranks, config.sampling.parts)?;
    let _claims = ranks.is_first().then(|| options.claim()).transpose()?;
    let read = if ranks.is_first() { DataOptions::read } else { DataOptions::read_silently };
    let data = read(&options.data, &config.architecture, &compute.device)?;
    config.data = data.files.clone();
    if let Some(outcome) = run::train_encoder(&config, &data, &compute, &output, ranks)? {
        match outcome.speed {
            Some(speed) => say(format_args!("{} steps at {speed:.0} positions/s", outcome.steps)),
            None => say(format_args!("the run of {} steps was complete", outcome.steps)),
        }
        print_line(serde_json::to_string(&outcome.measured)?)?;
    }
    Ok(())
}
