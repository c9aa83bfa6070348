//! The program `azimuth`: its command line, and the facts about its build. The Python package runs
//! it, too.

use std::ffi::OsString;
use std::io::{IsTerminal, stdin, stdout};

use anyhow::Result;
use azimuth_cli::{Manual, print_line, unless_closed};
use azimuth_search::encoder::sparse::Kernels;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::explain::ExplainCommand;
use crate::play::PlayCommand;
use crate::report::ReportCommand;
use crate::serve::ServeCommand;
use crate::uci;

/// The last part of the `--help` text.
const EXAMPLES: &str = "\
Examples:
  azimuth                                      speak UCI, for a chess GUI; help lists the commands
  azimuth serve                                open a board in the browser
  azimuth play --elo 1200 --time 5m+3s         play in the terminal with a clock
  azimuth explain \"8/8/8/4k3/8/4K3/4Q3/8 w - - 0 1\" --time 2s
                                               explain the best move in a position
  azimuth explain --pgn game.pgn --ply 31      explain the move after 31 half-moves of a game
  azimuth report game.pgn                      analyse a whole game and write game.html
  azimuth bench                                measure this machine's nodes per second
  azimuth go depth 10                          run a command of UCI and exit";

/// A UCI chess engine that plans in a learned space. Without a command, it speaks UCI on standard
/// input and output, so that any chess GUI can load it.
#[derive(Parser)]
#[command(name = "azimuth", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Search a fixed set of positions for several seconds to measure speed. The last line gives
    /// the nodes, and the nodes per second, of the selective search.
    // `azimuth-bench` is another program, whose manual page has that name.
    #[command(display_name = "azimuth-uci-bench")]
    Bench {
        /// Depth of the selective search in plies (the beam's is at most 6) [default: 15]; or, as in
        /// Stockfish: HASH THREADS [LIMIT [FILE|default [depth|nodes|movetime|perft]]].
        #[arg(trailing_var_arg = true)]
        arguments: Vec<String>,
    },
    /// Print positions that games for training data can start from, as OpenBench asks for them:
    /// `genfens N seed S book FILE|None [plies P] [score CP]`.
    Genfens {
        /// The arguments, and perhaps `quit` after them.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    Explain(ExplainCommand),
    Play(PlayCommand),
    Report(ReportCommand),
    Serve(ServeCommand),
    #[command(flatten)]
    Manual(Manual),
}

/// Runs the program with a command line, the program's name first. It ends the process if the
/// command line is wrong or asks for help or the version. Fails if the command fails.
pub fn run(command_line: impl IntoIterator<Item = OsString>) -> Result<()> {
    let command_line: Vec<OsString> = command_line.into_iter().collect();
    match uci_command(&command_line) {
        Some(line) => uci::run_command(&line, stdout()),
        None => run_task(parse(with_genfens_split(command_line)).task),
    }
}

/// The command of UCI that the command line consists of, if any: `azimuth compiler`,
/// `azimuth "go depth 3"`, as in Stockfish. The programs' own commands come first.
fn uci_command(command_line: &[OsString]) -> Option<String> {
    const COMMANDS: [&str; 6] = ["compiler", "d", "eval", "flip", "go", "uci"];
    let words: Option<Vec<&str>> =
        command_line.get(1..)?.iter().map(|word| word.to_str()).collect();
    let line = words?.join(" ");
    let first = line.split_whitespace().next()?;
    COMMANDS.contains(&first).then_some(line)
}

/// Splits the command off an argument such as `"genfens 8 seed 1 book None "`: OpenBench passes a
/// whole line of UCI as one argument.
fn with_genfens_split(mut command_line: Vec<OsString>) -> Vec<OsString> {
    let line = command_line.get(1).and_then(|argument| argument.to_str());
    if let Some(("genfens", arguments)) = line.and_then(|line| line.split_once(' ')) {
        let arguments = OsString::from(arguments);
        command_line[1] = arguments;
        command_line.insert(1, "genfens".into());
    }
    command_line
}

/// Parses the command line. `--version` also prints the facts about the build.
fn parse(command_line: Vec<OsString>) -> Arguments {
    let version = [&[env!("CARGO_PKG_VERSION").to_owned()][..], &uci::build_facts()].concat();
    // The command line is parsed once, so this leak is bounded.
    let version: &'static str = version.join("\n").leak();
    let matches = Arguments::command().long_version(version).get_matches_from(command_line);
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

fn run_task(task: Option<Task>) -> Result<()> {
    // Fail early if the processor lacks the instruction set.
    Kernels::chosen()?;
    match task {
        None => {
            if stdin().is_terminal() {
                print_line(uci::greeting()?)?;
            }
            uci::run(stdin().lock(), stdout())
        }
        Some(Task::Bench { arguments }) => {
            uci::run_command(&format!("bench {}", arguments.join(" ")), stdout())
        }
        Some(Task::Genfens { mut arguments }) => {
            // `quit` would end a UCI session; the command line ends with the command anyway.
            arguments.pop_if(|last| last == "quit");
            uci::run_command(&format!("genfens {}", arguments.join(" ")), stdout())
        }
        Some(Task::Explain(command)) => unless_closed(command.run(anstream::stdout())),
        Some(Task::Play(command)) => unless_closed(command.run(stdin().lock(), anstream::stdout())),
        Some(Task::Report(command)) => command.run(),
        Some(Task::Serve(command)) => command.run(stdout()),
        Some(Task::Manual(manual)) => manual.run(Arguments::command()),
    }
}
