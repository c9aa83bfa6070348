//! `azimuth-bench accuracy`: what players' moves give away, and how far their scores are from those of a stronger
//! engine.

mod decisions;
mod judge;
pub mod results;
mod verdicts;

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use azimuth::command_line::print_line;
use azimuth_network::replace_file::{check_output, replace_file};
use clap::Args;

use crate::device::DeviceArguments;
use crate::elo::book;
use crate::elo::roster::Roster;
use crate::elo::settings::{PlayerSettings, file_name};
use crate::games::record;
use decisions::Decision;
use results::AccuracyResults;

/// Have an engine judge moves: those of games, or what players choose in the same positions.
///
/// The judge searches every position and the one after the move chosen. What the move loses is the difference of
/// win probability for its side, nothing where the judge would have played it too.
#[derive(Args)]
pub struct Accuracy {
    /// A player that is asked for its moves, as in `elo`.
    #[arg(long = "player", value_parser = PlayerSettings::parse, requires = "positions")]
    players: Vec<PlayerSettings>,
    /// Positions to ask in: EPD or FEN a line, plain or zipped.
    #[arg(long)]
    positions: Option<PathBuf>,
    /// Games whose moves are judged, and the scores noted with them, instead of asking players.
    #[arg(long, conflicts_with_all = ["players", "positions"])]
    games: Option<PathBuf>,
    /// Positions, or moves of each player, that are looked at.
    #[arg(long, default_value_t = 400)]
    count: usize,
    /// Which positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Who judges, a player too: `cmd=PATH nodes=100000`.
    #[arg(long, value_parser = PlayerSettings::parse)]
    judge: PlayerSettings,
    /// Judges, or players, at work at a time.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// Write the figures here too.
    #[arg(long)]
    json: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

/// Asks, judges, prints a table and writes the JSON.
pub fn run(arguments: Accuracy) -> Result<()> {
    let Accuracy { players, positions, games, count, seed, judge, concurrency, .. } = arguments;
    ensure!(concurrency > 0, "--concurrency 0: expected at least 1");
    ensure!(count > 0, "--count 0: expected at least 1");
    if let Some(path) = &arguments.json {
        let inputs = games.iter().chain(&positions).map(PathBuf::as_path);
        check_output(path, &inputs.collect::<Vec<_>>())?;
    }
    let (device, dtype) = arguments.device.open()?;
    let judges = Roster::assemble(vec![judge], &device, dtype)?;
    let (source, decisions) = match (games, positions) {
        (Some(path), _) => {
            (file_name(&path), decisions::played(&record::read_file(&path)?, count, seed)?)
        }
        (None, Some(path)) if !players.is_empty() => {
            let fens = book::openings(&path, count, seed)?;
            let roster = Roster::assemble(players, &device, dtype)?;
            (file_name(&path), decisions::chosen(&roster, &fens, concurrency)?)
        }
        (None, Some(_)) => bail!("--positions: no --player is given to ask"),
        (None, None) => bail!("expected --positions and players, or --games"),
    };
    let judged = judge::judge(&judges, &decisions, concurrency)?;
    let results = AccuracyResults {
        source,
        judge: judges.participants[0].name.settings.clone(),
        players: by_player(&decisions, &judged),
    };
    if let Some(path) = &arguments.json {
        replace_file(path, serde_json::to_string_pretty(&results)?.as_bytes())?;
    }
    print_line(results.to_string().trim_end())
}

/// What is to be said of each player, in the order of their names.
fn by_player(decisions: &[Decision], judged: &[judge::Judgement]) -> Vec<results::PlayerAccuracy> {
    let mut names: Vec<&str> = decisions.iter().map(|decision| decision.player.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let of = |name: &str| {
        let own = decisions.iter().zip(judged).filter(|(decision, _)| decision.player == name);
        verdicts::summary(name, own)
    };
    names.into_iter().map(of).collect()
}
