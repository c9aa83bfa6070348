//! `azimuth-bench wdl`: fits the chances to win, draw and lose to recorded games.

mod fit;
mod samples;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use azimuth_cli::print_line;
use azimuth_network::replace_file::{check_output, replace_file};
use azimuth_search::names::name_of;
use azimuth_search::{PlannerKind, WdlModel};
use clap::{Args, ValueEnum};
use fit::{Predicted, Quality, chart, constant_draws, fit, quality};
use samples::{ScoredMove, samples};

use crate::games::{GameRecord, read_files};
use crate::plot::grouped;

/// Fit the chances to win, draw and lose to the scores of each planner in its games, and test the
/// fit on held-out games.
///
/// The players' settings show the planner: the beam with verification, or the selective search. The
/// test is a five-fold cross-validation, so each game is predicted by a fit to the other four
/// fifths of the games.
#[derive(Args)]
pub struct Wdl {
    /// PGN files written by `elo`, plain or .zst.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Folder for the reliability plots, `wdl-beam.svg` and `wdl-selective.svg`.
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
}

/// Number of parts of the cross-validation.
const FOLDS: usize = 5;

pub struct Fit {
    pub planner: PlannerKind,
    pub model: WdlModel,
    pub games: usize,
    /// Every score, with chances from a fit to the other folds.
    pub held_out: Vec<Predicted>,
    pub quality: Quality,
    /// The quality of `constant_draws` on the same scores, for comparison.
    pub before: Quality,
}

pub fn run(arguments: &Wdl) -> Result<()> {
    let games = read_files(&arguments.files)?;
    let fits = fits(&games.iter().collect::<Vec<_>>())?;
    ensure!(!fits.is_empty(), "no game has scores of the verified beam or the selective search");
    for fit in &fits {
        fit.print()?;
        if let Some(folder) = &arguments.plots {
            let path = folder.join(fit.plot_name());
            check_output(&path, &[])?;
            replace_file(&path, fit.chart()?.as_bytes())?;
        }
    }
    Ok(())
}

/// Fits every planner that has scores in the games.
pub fn fits(games: &[&GameRecord]) -> Result<Vec<Fit>> {
    let mut fits = Vec::new();
    for &planner in PlannerKind::value_variants() {
        let moves = samples(games, planner)?;
        if !moves.is_empty() {
            fits.push(Fit::new(planner, &moves)?);
        }
    }
    Ok(fits)
}

impl Fit {
    fn new(planner: PlannerKind, moves: &[ScoredMove]) -> Result<Self> {
        let mut held_out = Vec::with_capacity(moves.len());
        for number in 0..FOLDS {
            // All games from an opening are in the same part.
            let (tested, others): (Vec<ScoredMove>, Vec<ScoredMove>) =
                moves.iter().partition(|scored| scored.opening % FOLDS == number);
            let model = fit(&others)?;
            held_out.extend(tested.into_iter().map(|scored| {
                let chances = model.chances(scored.centipawns, scored.material);
                Predicted { scored, chances }
            }));
        }
        let constant = |&scored: &ScoredMove| {
            let chances = constant_draws(scored.centipawns);
            Predicted { scored, chances }
        };
        let before = quality(&moves.iter().map(constant).collect::<Vec<_>>());
        let games = moves.iter().map(|scored| scored.game).collect::<BTreeSet<_>>().len();
        let quality = quality(&held_out);
        Ok(Self { planner, model: fit(moves)?, games, held_out, quality, before })
    }

    pub fn plot_name(&self) -> String {
        format!("wdl-{}.svg", name_of(&self.planner))
    }

    pub fn chart(&self) -> Result<String> {
        chart(&name_of(&self.planner), &self.held_out)
    }

    fn print(&self) -> Result<()> {
        let Self { planner, model, games, held_out, quality, before } = self;
        let scores = grouped(held_out.len() as u64);
        print_line(format_args!("{}: {scores} scores of {games} games", name_of(planner)))?;
        print_line(format_args!("  even: {:?}\n  width: {:?}", model.even, model.width))?;
        for (name, Quality { log_loss, brier }) in
            [("fitted, held-out games", quality), ("constant draws", before)]
        {
            print_line(format_args!("  {name}: log loss {log_loss:.4}, Brier score {brier:.4}"))?;
        }
        Ok(())
    }
}
