//! `azimuth`: the engine on standard input and output.

use std::io::{IsTerminal, stdin, stdout};
use std::process::ExitCode;

use anyhow::Result;
use azimuth::command_line::{Manual, exit, print_line, unless_closed};
use azimuth::encoder::sparse::Kernels;
use azimuth::explain::ExplainCommand;
use azimuth::report::ReportCommand;
use clap::{CommandFactory, Parser, Subcommand};

/// What `--help` ends with.
const EXAMPLES: &str = "\
Examples:
  azimuth                                      play: speaks UCI; load it into a chess GUI, or type help
  azimuth explain \"8/8/8/4k3/8/4K3/4Q3/8 w - - 0 1\" --time 2s
                                               analyse: every move before and after the search, and why the best won out
  azimuth explain --pgn game.pgn --ply 31      the same at a place in a game
  azimuth report game.pgn                      a page for a whole game: game.html
  azimuth bench                                how many nodes per second this machine searches";

/// A UCI chess engine that plans in a learned space. Without a command it speaks UCI on standard
/// input and output; any chess GUI can load it.
#[derive(Parser)]
#[command(name = "azimuth", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Search a fixed set of positions, for some seconds; the last line has the nodes of the selective search, and its
    /// nodes per second.
    Bench {
        /// Plies of the selective search; the beam goes no deeper than it does by default.
        depth: Option<u32>,
    },
    Explain(ExplainCommand),
    Report(ReportCommand),
    #[command(flatten)]
    Manual(Manual),
}

fn main() -> ExitCode {
    exit("azimuth", run(Arguments::parse()))
}

fn run(arguments: Arguments) -> Result<()> {
    // Nothing begins on an instruction set that the processor lacks.
    Kernels::chosen()?;
    match arguments.task {
        None => {
            if stdin().is_terminal() {
                print_line(azimuth::uci::greeting()?)?;
            }
            azimuth::uci::run(stdin().lock(), stdout())?;
        }
        Some(Task::Bench { depth }) => azimuth::uci::run_bench(depth, stdout())?,
        Some(Task::Explain(command)) => unless_closed(command.run(anstream::stdout()))?,
        Some(Task::Report(command)) => command.run()?,
        Some(Task::Manual(manual)) => manual.run(Arguments::command())?,
    }
    Ok(())
}
