//! `azimuth`: the engine on standard input and output.

use std::io::{IsTerminal, stdin, stdout};
use std::process::ExitCode;

use anyhow::Result;
use azimuth::build_facts;
use azimuth::command_line::{Manual, exit, print_line};
use azimuth::encoder::sparse::Kernels;
use azimuth::explain::ExplainCommand;
use azimuth::play::PlayCommand;
use azimuth::report::ReportCommand;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// What `--help` ends with.
const EXAMPLES: &str = "\
Examples:
  azimuth                                      play: speaks UCI; load it into a chess GUI, or type help
  azimuth play --elo 1200                      play in the terminal
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
    // `azimuth-bench` is a program: its manual page has that name.
    #[command(display_name = "azimuth-uci-bench")]
    Bench {
        /// Plies of the selective search; the beam goes no deeper than it does by default.
        depth: Option<u32>,
    },
    Explain(ExplainCommand),
    Play(PlayCommand),
    Report(ReportCommand),
    #[command(flatten)]
    Manual(Manual),
}

fn main() -> ExitCode {
    exit("azimuth", run(arguments()))
}

/// The command line; `--version` also tells of the build.
fn arguments() -> Arguments {
    let version = [&[env!("CARGO_PKG_VERSION").to_owned()][..], &build_facts::lines()].concat();
    // The command line is read once, and keeps no text that may be freed.
    let version: &'static str = version.join("\n").leak();
    let matches = Arguments::command().long_version(version).get_matches();
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
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
        Some(Task::Explain(command)) => command.run(anstream::stdout())?,
        Some(Task::Play(command)) => command.run(stdin().lock(), anstream::stdout())?,
        Some(Task::Report(command)) => command.run()?,
        Some(Task::Manual(manual)) => manual.run(Arguments::command())?,
    }
    Ok(())
}
