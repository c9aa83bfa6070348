//! The command line of `azimuth report`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::command_line::print_line;
use anyhow::{Context, Result, ensure};
use azimuth_network::replace_file::{check_output, replace_file};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::analysis::Analyst;
use super::game::read_games;
use super::page::{GameData, page};
use crate::inference::{Backend, Precision, Worker};
use crate::search::{Limits, PlannerKind, PlannerSettings, Resources, TimeLimit};

/// Looks at games move by move and writes one page that needs nothing else: a board to click through, the win probability,
/// the moves that gave it away, the game's path through the space.
#[derive(Args)]
pub struct ReportCommand {
    /// The games, PGN.
    pgn: PathBuf,
    /// The page to write; the game's file with .html where not given.
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Time for each position: 100ms, 1s.
    #[arg(long, default_value = "100ms", value_parser = humantime::parse_duration)]
    engine_time: Duration,
    /// Who plans.
    #[arg(long, value_enum, default_value_t = PlannerKind::Selective)]
    planner: PlannerKind,
    /// The weights file; the planner's own where not given.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Threads that search.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Score cache and transposition table together, MB.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
}

impl ReportCommand {
    /// Looks at the games and writes the page. A game that cannot be read is said, with its number, and left out; fails
    /// where that leaves none.
    pub fn run(&self) -> Result<()> {
        let games = read_games(&self.pgn)?;
        let out = self.out.clone().unwrap_or_else(|| self.pgn.with_extension("html"));
        check_output(&out, &[&self.pgn])?;
        let notice = |text: &str| eprintln!("azimuth: {text}");
        let kind = self.planner;
        let settings = PlannerSettings::default();
        let embedded = settings.embedded(kind);
        let weights = Arc::new(embedded.or_read(self.weights.as_deref())?);
        let (device, dtype) =
            Backend::Auto.open(Precision::Auto, &weights.metadata.architecture, notice)?;
        let worker = Worker::start(weights.clone(), &device, dtype, Box::new(notice))?;
        let resources = Resources { hash_mb: self.hash as usize, threads: self.threads.into() };
        let mut planner = settings.build(kind, &worker, resources, None)?;
        let mut encoder = crate::encoder::build(&weights, &device, dtype)?;
        let time = TimeLimit { soft: self.engine_time, hard: self.engine_time };
        let mut analyst = Analyst {
            planner: &mut *planner,
            encoder: &mut *encoder,
            axis: &weights.axis,
            limits: Limits { time: Some(time), ..Limits::default() },
        };
        let positions = games.iter().flatten().map(|game| game.moves.len() as u64 + 1).sum();
        let style = "{bar:30} {pos}/{len} positions, {eta} left";
        let bar = ProgressBar::new(positions).with_style(ProgressStyle::with_template(style)?);
        let mut pages = Vec::new();
        for (number, game) in (1..).zip(&games) {
            match game {
                Ok(game) => {
                    let stops = analyst.look_at(game, || bar.inc(1));
                    let stops = stops.with_context(|| format!("game {number}"))?;
                    pages.push(GameData::new(game, &stops, &weights.axis));
                }
                Err(error) => bar.suspend(|| eprintln!("azimuth: game {number}: {error:#}")),
            }
        }
        bar.finish_and_clear();
        ensure!(!pages.is_empty(), "'{}': no game in it can be read", self.pgn.display());
        let credit = format!(
            "Looked at by Azimuth {}, {} planner, {} a position.",
            env!("CARGO_PKG_VERSION"),
            kind.name(),
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
