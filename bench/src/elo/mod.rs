//! `azimuth-bench elo`: matches against any UCI engine, and between Azimuth's own settings.

pub mod adjudication;
pub mod book;
pub mod game;
mod network;
pub mod player;
mod process;
mod results;
pub mod roster;
pub mod settings;
pub mod time_control;
mod tournament;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use azimuth::command_line::print_line;
use azimuth_network::replace_file::{check_output, replace_file};
use clap::Args;

use crate::device::DeviceArguments;
use crate::games::record::GameFile;
use crate::rating::{Sprt, Standings, Verdict, table};
use adjudication::{Adjudication, DrawRule, ResignRule};
use results::PairingResult;
use roster::Roster;
use settings::PlayerSettings;
use tournament::Tournament;

/// Time between lines of progress.
const PROGRESS: Duration = Duration::from_secs(30);

/// A match: every --player against every --against, every opening with both colours.
///
/// A player is `key=value` words: `width`, `depth`, `mode`, `weights` (a weights file, or a Stockfish network, .nnue, in
/// the encoder's place), `hash` for Azimuth, which plays in this process; `cmd=PATH`, `args` (its arguments) and
/// `option.NAME=VALUE` for another engine; `depth`, `nodes`, `movetime` (ms), `tc` (SECONDS+INCREMENT), `margin` (ms), `name`, `elo` for both.
#[derive(Args)]
pub struct Elo {
    /// A player to measure.
    #[arg(long = "player", required = true, value_parser = PlayerSettings::parse)]
    players: Vec<PlayerSettings>,
    /// An opponent.
    #[arg(long = "against", required = true, value_parser = PlayerSettings::parse)]
    opponents: Vec<PlayerSettings>,
    /// Openings: EPD or FEN a line, plain or zipped.
    #[arg(long)]
    book: PathBuf,
    /// Games of every pairing; an even number.
    #[arg(long, default_value_t = 200)]
    games: usize,
    /// Games at a time. An opponent whose limit is time is weaker where they outnumber idle cores.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// Which openings, and in which order.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The games are written here; a match that was interrupted goes on from it.
    #[arg(long)]
    pgn: PathBuf,
    /// End draws early: moves=8,score=10,from=40.
    #[arg(long)]
    draw: Option<DrawRule>,
    /// End decided games early: moves=4,score=800.
    #[arg(long)]
    resign: Option<ResignRule>,
    /// Stop once it is decided whether the player is better:
    /// `elo0=0,elo1=5[,alpha=0.05][,beta=0.05][,model=normalized|logistic]`.
    #[arg(long)]
    sprt: Option<Sprt>,
    /// Write what every pairing came to here too.
    #[arg(long)]
    json: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

/// Plays what is left of the match and prints the standings of all games in the file.
pub fn run(arguments: Elo) -> Result<()> {
    let Elo { players, opponents, book, games, concurrency, seed, pgn, json, .. } = arguments;
    ensure!(games > 0 && games.is_multiple_of(2), "--games {games}: expected an even number");
    ensure!(concurrency > 0, "--concurrency 0: expected at least 1");
    let (measured, others) = (players.len(), opponents.len());
    ensure!(
        arguments.sprt.is_none() || (measured == 1 && others == 1),
        "--sprt compares one --player with one --against"
    );
    let openings = book::openings(&book, games / 2, seed)?;
    if let Some(path) = &json {
        check_output(path, &[&book, &pgn])?;
    }
    let (device, dtype) = arguments.device.open()?;
    let roster = Roster::assemble(players.into_iter().chain(opponents).collect(), &device, dtype)?;
    let pairings = (0..measured)
        .flat_map(|player| (measured..measured + others).map(move |other| [player, other]))
        .collect();
    let adjudication = Adjudication { draw: arguments.draw, resign: arguments.resign };
    let tournament = Tournament {
        participants: &roster.participants,
        pairings,
        openings,
        adjudication,
        concurrency,
    };
    let (mut file, before) = GameFile::open(&pgn)?;
    let left = tournament.left(&before)?;
    let mut standings = Standings::of(&before);
    let names = [0, measured].map(|player| roster.participants[player].name.name.as_str());
    let decided = |standings: &Standings| {
        let test = arguments.sprt.as_ref();
        test.is_some_and(|sprt| sprt.verdict(&standings.pairs(names)) != Verdict::Undecided)
    };
    let (began, total, mut new) = (Instant::now(), left.len(), 0);
    let mut told = began;
    if !decided(&standings) {
        tournament.play(&roster, left, |game| {
            file.add(&game)?;
            standings.add(&game);
            new += 1;
            if told.elapsed() > PROGRESS {
                told = Instant::now();
                let minutes = began.elapsed().as_secs_f64() / 60.0;
                eprintln!("{new} of {total} games, {minutes:.1} minutes");
            }
            let decided = decided(&standings);
            Ok(if decided { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    if let Some(path) = &json {
        let results = PairingResult::of_all(&tournament, &standings);
        replace_file(path, serde_json::to_string_pretty(&results)?.as_bytes())?;
    }
    print_line(table(&standings).trim_end())?;
    if let Some(sprt) = &arguments.sprt {
        print_line(sprt.summary(&standings.pairs(names)))?;
    }
    print_line(format_args!(
        "{new} games played in {:.1} minutes",
        began.elapsed().as_secs_f64() / 60.0
    ))?;
    Ok(())
}
