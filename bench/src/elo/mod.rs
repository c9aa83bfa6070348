//! `azimuth-bench elo`: matches against any UCI engine, and between settings of Azimuth.

pub mod book;
pub mod game;
pub mod player;
pub mod roster;
mod tournament;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::replace_file::{check_different, check_output, replace_file};
use clap::Args;
use game::{Adjudication, DrawRule, ResignRule};
use roster::Roster;
use serde::Serialize;
use tournament::{Tournament, batches_csv};

use crate::device::DeviceArguments;
use crate::games::GameFile;
use crate::rating::{Sprt, Standings, Verdict, table};
use crate::settings::PlayerSettings;

const PROGRESS: Duration = Duration::from_secs(30);

/// Play a match: every --player against every --against, each opening with both colours.
///
/// A player is a list of `key=value` words, quoted as in a shell.
///
/// Azimuth, which plays in this process: `planner` (`beam` or `selective`, default `beam`),
/// `weights` (a weights file, or a Stockfish network, .nnue, that replaces the encoder; default:
/// the default weights), `hash` (score cache in MB, default 16), `threads` (default 1) and `noise`
/// (standard deviation of the Gaussian noise added to each score, in logits, 0 to 100, default 0;
/// excludes verification).
///
/// The beam: `width` (moves kept at each node, default 3) and `verify` (how children are scored:
/// `none` by their embeddings, `quiescence` by a search to the beam's last ply, 1 to 4 by a search
/// that many plies beyond it; default 1, or `none` with noise).
///
/// The selective search: `without` (techniques to switch off, separated by commas) and `set`
/// (parameters, such as `set=lmr-base:80,delta-margin:150`).
///
/// Another engine: `cmd=PATH`, `args` (its command-line arguments) and `option.NAME=VALUE` (a UCI
/// option).
///
/// All players: `name`, `elo` (known rating), and the limits `depth` (plies), `nodes`, `movetime`
/// (ms), `tc` (seconds: `tc=60`, `tc=10+0.1` with an increment, `tc=40/10` for 10 seconds every 40
/// moves) and `margin` (ms by which a move may exceed its limit, default 500). Limits can be
/// combined. Another engine needs at least one; Azimuth searches to depth 6 without one.
#[derive(Args)]
pub struct Elo {
    /// Player to measure, as `key=value` words; may be repeated.
    #[arg(long = "player", required = true, value_parser = PlayerSettings::parse)]
    players: Vec<PlayerSettings>,
    /// Opponent, as `key=value` words; may be repeated.
    #[arg(long = "against", required = true, value_parser = PlayerSettings::parse)]
    opponents: Vec<PlayerSettings>,
    /// Opening book: one EPD or FEN per line, plain or .zip.
    #[arg(long)]
    book: PathBuf,
    /// Number of games per pairing; must be even.
    #[arg(long, default_value_t = 200)]
    games: usize,
    /// Number of games played at a time. More games than idle cores weaken an opponent whose limit
    /// is time.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// Seed that selects and orders the openings.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// PGN file for the games; an interrupted match continues from it.
    #[arg(long)]
    pgn: PathBuf,
    /// Adjudicate draws: moves=8,score=10,from=40.
    #[arg(long)]
    draw: Option<DrawRule>,
    /// Adjudicate wins: moves=4,score=800.
    #[arg(long)]
    resign: Option<ResignRule>,
    /// Stop the match with a sequential probability ratio test:
    /// `elo0=0,elo1=5[,alpha=0.05][,beta=0.05][,model=normalized|logistic]`.
    #[arg(long)]
    sprt: Option<Sprt>,
    /// Also write the result of every pairing to this JSON file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Also write the batches of encoders that run on a thread for all games to this CSV file, a
    /// line a second: transformers, and every encoder on a GPU. The file has those of this run of
    /// the command; without new games it is not written.
    #[arg(long)]
    batches: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

/// Plays the remaining games and prints the standings over all games in the file.
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
    let tables = [&json, &arguments.batches].into_iter().flatten().map(PathBuf::as_path);
    check_different(&tables.clone().chain([&*pgn]).collect::<Vec<_>>())?;
    for path in tables {
        check_output(path, &[&book])?;
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
    let mut all_waits: Vec<Duration> = Vec::new();
    if !decided(&standings) {
        tournament.play(&roster, left, |(record, waits)| {
            file.add(&record)?;
            standings.add(&record);
            all_waits.extend(waits);
            new += 1;
            if told.elapsed() > PROGRESS {
                told = Instant::now();
                let minutes = began.elapsed().as_secs_f64() / 60.0;
                say(format_args!("{new} of {total} games, {minutes:.1} minutes"));
            }
            let decided = decided(&standings);
            Ok(if decided { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    if let Some(path) = &json {
        let results = PairingResult::of_all(&tournament, &standings);
        replace_file(path, serde_json::to_string_pretty(&results)?.as_bytes())?;
    }
    // Without a new game, the file keeps the batches of an earlier run.
    if let Some(path) = &arguments.batches
        && new > 0
    {
        replace_file(path, batches_csv(roster.batches()).as_bytes())?;
    }
    print_line(table(&standings).trim_end())?;
    if let Some(sprt) = &arguments.sprt {
        print_line(sprt.summary(&standings.pairs(names)))?;
    }
    if !all_waits.is_empty() {
        let all: Duration = all_waits.iter().sum();
        let milliseconds = all.as_secs_f64() * 1e3 / all_waits.len() as f64;
        print_line(format_args!("waiting for the encoder: {milliseconds:.1} ms a move"))?;
    }
    print_line(format_args!(
        "{new} games played in {:.1} minutes",
        began.elapsed().as_secs_f64() / 60.0
    ))?;
    Ok(())
}

#[derive(Debug, Serialize)]
pub struct PairingResult {
    player: String,
    against: String,
    wins: u64,
    losses: u64,
    draws: u64,
    /// Logistic Elo difference with its 95% error margin; `None` if it is unbounded.
    elo: Option<[f64; 2]>,
}

impl PairingResult {
    /// All pairings of a match that have games.
    pub fn of_all(tournament: &Tournament<'_>, standings: &Standings) -> Vec<Self> {
        let name = |player: usize| tournament.participants[player].name.name.as_str();
        let results = tournament.pairings.iter().filter_map(|&[one, other]| {
            let names = [one, other].map(name);
            let between = standings.between(standings.find(names[0])?, standings.find(names[1])?);
            let elo = standings.pairs(names).logistic_elo();
            Some(Self {
                player: names[0].to_owned(),
                against: names[1].to_owned(),
                wins: between.wins,
                losses: between.losses,
                draws: between.draws,
                elo: elo.map(|elo| [elo.value, elo.error]),
            })
        });
        results.collect()
    }
}
