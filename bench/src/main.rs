//! `azimuth-bench`: measurements of the engine's strength and speed.

mod accuracy;
mod adopt;
mod arguments;
mod clock;
mod elo;
mod games;
mod plot;
mod rating;
mod report;
mod settings;
mod speed;
mod suite;
mod wdl;

use std::path::PathBuf;
use std::process::ExitCode;

use azimuth_cli::{Manual, exit};
use clap::{CommandFactory, Parser, Subcommand};

/// Measurements of the Azimuth chess engine.
#[derive(Parser)]
#[command(name = "azimuth-bench", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Accuracy(accuracy::Accuracy),
    Adopt(adopt::Adopt),
    Clock(clock::Clock),
    Elo(elo::Elo),
    /// Compute ratings from all games of the PGN files of this or another program.
    Rate {
        /// PGN files, plain or .zst. A player's known rating is its WhiteElo or BlackElo tag.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Known rating of a player: NAME=ELO; may be repeated.
        #[arg(long = "known", value_parser = rating::known)]
        known: Vec<(String, f64)>,
        /// Estimate the Elo effect of each technique that some players switch off (`without=`) and
        /// of each parameter that is set (`set=`), instead of ratings. Meant for designed matches
        /// in which every player switches off a different subset.
        #[arg(long, conflicts_with = "known")]
        effects: bool,
    },
    Speed(speed::Speed),
    Suite(suite::Suite),
    Wdl(wdl::Wdl),
    Report(report::ResultsReport),
    #[command(flatten)]
    Manual(Manual),
}

fn main() -> ExitCode {
    exit("azimuth-bench", || match Arguments::parse().command {
        Command::Accuracy(arguments) => accuracy::run(arguments),
        Command::Adopt(arguments) => adopt::run(&arguments),
        Command::Clock(arguments) => clock::run(&arguments),
        Command::Elo(arguments) => elo::run(arguments),
        Command::Rate { files, known, effects } => rating::run(&files, &known, effects),
        Command::Speed(arguments) => speed::run(&arguments),
        Command::Suite(arguments) => suite::run(&arguments),
        Command::Wdl(arguments) => wdl::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Manual(manual) => manual.run(Arguments::command()),
    })
}
