//! `azimuth`: the engine on standard input and output.

use std::io::{stdin, stdout};
use std::process::ExitCode;

use anyhow::Result;
use azimuth::explain::ExplainCommand;
use azimuth::report::ReportCommand;
use clap::{Parser, Subcommand};

/// A UCI chess engine that plans in a learned space. Without a command it speaks UCI on standard
/// input and output; any chess GUI can load it.
#[derive(Parser)]
#[command(name = "azimuth", version)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Search a fixed set of positions; the last line has all nodes, and nodes per second.
    Bench {
        /// Plies.
        depth: Option<u32>,
    },
    Explain(ExplainCommand),
    Report(ReportCommand),
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("azimuth: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    match arguments.task {
        None => azimuth::uci::run(stdin().lock(), stdout()),
        Some(Task::Bench { depth }) => azimuth::uci::run_bench(depth, stdout())?,
        Some(Task::Explain(command)) => command.run(anstream::stdout())?,
        Some(Task::Report(command)) => command.run()?,
    }
    Ok(())
}
