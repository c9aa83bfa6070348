//! The command line of `azimuth report`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use azimuth_network::replace_file::{check_output, replace_file};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::analysis::Analyst;
use super::game::read_games;
use super::page::{GameData, page};
use crate::command_line::print_line;
use crate::inference::ModelSource;
use crate::names::name_of;
use crate::search::{Limits, PlannerKind, PlannerSettings, Resources, TimeLimit};
use crate::session::Session;

/// Analyses games move by move and writes a self-contained HTML page: an interactive board, a graph
/// of the win probability, the moves that lost win probability, and the game's path through the
/// embedding space.
#[derive(Args)]
pub struct ReportCommand {
    /// PGN file with the games.
    pgn: PathBuf,
    /// HTML file to write [default: the PGN file's name with .html]
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Analysis time for each position, for example 100ms or 1s.
    #[arg(long, default_value = "100ms", value_parser = humantime::parse_duration)]
    engine_time: Duration,
    /// Search to use.
    #[arg(long, value_enum, default_value_t = PlannerKind::Selective)]
    planner: PlannerKind,
    /// Weights file [default: the embedded weights of the search]
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Number of search threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Size of the score cache and transposition table together, in MB.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
}

impl ReportCommand {
    /// Analyses the games and writes the page. A game that cannot be read is reported with its
    /// number and skipped. Fails if no game is left.
    pub fn run(&self) -> Result<()> {
        let games = read_games(&self.pgn)?;
        let out = self.out.clone().unwrap_or_else(|| self.pgn.with_extension("html"));
        check_output(&out, &[&self.pgn])?;
        let notice = |text: &str| eprintln!("azimuth: {text}");
        let kind = self.planner;
        let settings = PlannerSettings::default();
        let resources = Resources { hash_mb: self.hash as usize, threads: self.threads.into() };
        let source = ModelSource { weights: self.weights.clone(), ..ModelSource::default() };
        let Session { mut planner, worker } =
            Session::new(kind, &settings, &source, resources, None, notice)?;
        let mut model = worker.model()?;
        let space = model.space().clone();
        let time = TimeLimit { soft: self.engine_time, hard: self.engine_time };
        let mut analyst = Analyst {
            planner: &mut *planner,
            model: &mut model,
            limits: Limits { time: Some(time), ..Limits::default() },
        };
        let positions = games.iter().flatten().map(|game| game.moves.len() as u64 + 1).sum();
        let style = "{bar:30} {pos}/{len} positions, {eta} left";
        let bar = ProgressBar::new(positions).with_style(ProgressStyle::with_template(style)?);
        let mut pages = Vec::new();
        if let Some(Err(error)) = games.first()
            && games.iter().all(Result::is_err)
        {
            bail!("'{}': no game in it can be read; game 1: {error:#}", self.pgn.display());
        }
        for (number, game) in (1..).zip(&games) {
            match game {
                Ok(game) => {
                    let stops = analyst.look_at(game, || bar.inc(1));
                    let stops = stops.with_context(|| format!("game {number}"))?;
                    pages.push(GameData::new(game, &stops, &space.axis));
                }
                Err(error) => bar.suspend(|| eprintln!("azimuth: {error}")),
            }
        }
        bar.finish_and_clear();
        let credit = format!(
            "Looked at by Azimuth {}, {} planner, {} a position.",
            env!("CARGO_PKG_VERSION"),
            name_of(&kind),
            humantime::format_duration(self.engine_time),
        );
        replace_file(&out, page(&pages, &credit)?.as_bytes())?;
        print_line(format_args!(
            "{} of {} games to '{}'",
            pages.len(),
            games.len(),
            out.display()
        ))?;
        Ok(())
    }
}
