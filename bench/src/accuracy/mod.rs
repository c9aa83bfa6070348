//! `azimuth-bench accuracy`: win probability lost by players' moves, and the difference between
//! their scores and those of a stronger engine.

mod decisions;
mod judge;

use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use azimuth_cli::print_line;
use azimuth_network::replace_file::{check_output, replace_file};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::device::DeviceArguments;
use crate::elo::book;
use crate::elo::roster::Roster;
use crate::games::read_file;
use crate::settings::{PlayerSettings, file_name};

/// Judge moves with a strong engine: moves from games, or moves that players choose in given
/// positions.
///
/// The judge searches every position and the position after the chosen move. The loss of a move is
/// the difference in win probability for the side that moved; it is 0 if the judge would have
/// played the same move.
#[derive(Args)]
pub struct Accuracy {
    /// Player to ask for moves, as in `elo`; may be repeated.
    #[arg(long = "player", value_parser = PlayerSettings::parse, requires = "positions")]
    players: Vec<PlayerSettings>,
    /// Positions for the players: one EPD or FEN per line, plain or .zip.
    #[arg(long)]
    positions: Option<PathBuf>,
    /// Judge the moves and recorded scores of these games instead of asking players.
    #[arg(long, conflicts_with_all = ["players", "positions"])]
    games: Option<PathBuf>,
    /// Number of positions, or of moves per player, to judge.
    #[arg(long, default_value_t = 400)]
    count: usize,
    /// Seed of the random selection.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The judge, as a player of `elo`: `cmd=PATH nodes=100000`.
    #[arg(long, value_parser = PlayerSettings::parse)]
    judge: PlayerSettings,
    /// Number of judges or players that run at a time.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// Also write the results to this JSON file.
    #[arg(long)]
    json: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn run(arguments: Accuracy) -> Result<()> {
    let Accuracy { players, positions, games, count, seed, judge, concurrency, .. } = arguments;
    ensure!(concurrency > 0, "--concurrency 0: expected at least 1");
    ensure!(count > 0, "--count 0: expected at least 1");
    if let Some(path) = &arguments.json {
        let inputs = games.iter().chain(&positions).map(PathBuf::as_path);
        check_output(path, &inputs.collect::<Vec<_>>())?;
    }
    if let Some(clock) = players.iter().chain([&judge]).find_map(|player| player.limit.clock) {
        bail!("tc={clock}: separate positions have no clock; give movetime=, nodes= or depth=");
    }
    let (device, dtype) = arguments.device.open()?;
    let judges = Roster::assemble(vec![judge], &device, dtype)?;
    let (source, decisions) = match (games, positions) {
        (Some(path), _) => (file_name(&path), decisions::played(&read_file(&path)?, count, seed)?),
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
        players: judge::by_player(&decisions, &judged),
    };
    if let Some(path) = &arguments.json {
        replace_file(path, serde_json::to_string_pretty(&results)?.as_bytes())?;
    }
    print_line(results.to_string().trim_end())
}

/// All players judged by one engine.
#[derive(Debug, Serialize, Deserialize)]
pub struct AccuracyResults {
    /// Name of the file of positions or games.
    pub source: String,
    /// The judge and its limit.
    pub judge: String,
    pub players: Vec<PlayerAccuracy>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct PlayerAccuracy {
    pub player: String,
    pub all: Figures,
    /// By phase, from opening to endgame.
    pub phases: Vec<(String, Figures)>,
}

/// Means over moves, in win probability.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub moves: usize,
    /// Mean win probability lost per move, with its standard error.
    pub loss: f64,
    pub loss_error: f64,
    /// Share of the moves that lose more than 0.05.
    pub above_005: f64,
    pub above_015: f64,
    /// The player's score minus the judge's score of the position after the move.
    pub score_error: f64,
    pub score_rms: f64,
    /// Depth of the player's search, in plies.
    pub depth: f64,
}

const HEADINGS: &str = "| player | phase | moves | loss a move | lose > 0.05 | lose > 0.15 | \
                        own score less the judge's: mean, rms | depth |\n\
                        |---|---|---|---|---|---|---|---|\n";

impl fmt::Display for AccuracyResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADINGS)?;
        for PlayerAccuracy { player, all, phases } in &self.players {
            writeln!(f, "| {player} | all | {all} |")?;
            for (phase, figures) in phases.iter().filter(|(_, figures)| figures.moves > 0) {
                writeln!(f, "| | {phase} | {figures} |")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} | {:.4} ± {:.4} | {:.1}% | {:.1}% | {:+.3}, {:.3} | {:.1}",
            self.moves,
            self.loss,
            self.loss_error,
            self.above_005 * 100.0,
            self.above_015 * 100.0,
            self.score_error,
            self.score_rms,
            self.depth
        )
    }
}
