//! `azimuth-bench`: how strong and how fast the engine is, measured.

mod accuracy;
mod adopt;
mod clock;
mod device;
mod elo;
mod games;
mod grouped;
mod plot;
mod precision;
mod rating;
mod report;
mod speed;
mod suite;
mod tune;

use std::path::PathBuf;
use std::process::ExitCode;

use azimuth::command_line::{Manual, exit};
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
    /// Rate the players of PGN files, of this program or another, all games pooled.
    Rate {
        /// PGN files, plain or .zst. A player's known rating is its WhiteElo or BlackElo tag.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// A known rating: NAME=ELO.
        #[arg(long = "known", value_parser = rating::known)]
        known: Vec<(String, f64)>,
        /// Instead of ratings, what each technique adds that some of the players leave out (`without=`) or each number
        /// that is set (`set=`), from matches in which every player lacks others.
        #[arg(long, conflicts_with = "known")]
        effects: bool,
    },
    Precision(precision::Precision),
    Speed(speed::Speed),
    Suite(suite::Suite),
    Tune(tune::Tune),
    Report(report::Report),
    #[command(flatten)]
    Manual(Manual),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Accuracy(arguments) => accuracy::run(arguments),
        Command::Adopt(arguments) => adopt::run(&arguments),
        Command::Clock(arguments) => clock::run(&arguments),
        Command::Elo(arguments) => elo::run(arguments),
        Command::Rate { files, known, effects } => rating::run(&files, &known, effects),
        Command::Precision(arguments) => precision::run(&arguments),
        Command::Speed(arguments) => speed::run(&arguments),
        Command::Suite(arguments) => suite::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Manual(manual) => manual.run(Arguments::command()),
    };
    exit("azimuth-bench", done)
}
