//! `azimuth-bench wdl`: fits the chances to win, draw and lose to recorded games.

mod fit;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use azimuth_chess::pgn::Outcome;
use azimuth_chess::position::Position;
use azimuth_cli::print_line;
use azimuth_network::replace_file::{check_output, replace_file};
use azimuth_search::names::name_of;
use azimuth_search::{BeamVerify, PlannerKind, WdlModel, material};
use clap::{Args, ValueEnum};
use cozy_chess::{Color, Move};
use fit::{Predicted, Quality, chart, constant_draws, fit, quality};

use crate::games::{Evaluation, GameRecord, Name, read_files};
use crate::plot::grouped;
use crate::settings::RecordedSettings;

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

/// Positions with at least this halfmove clock are left out. A game that ends by the 50-move rule
/// would otherwise count a hundred positions with the same score.
const WITHOUT_PROGRESS: u8 = 20;

/// A result of a game, for the side whose score it is. The order is that of `wdl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    Win,
    Draw,
    Loss,
}

/// A planner's score of a position, before its move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredMove {
    pub centipawns: i32,
    /// Of both sides, in pawns.
    pub material: u32,
    pub result: GameResult,
    pub game: usize,
    pub opening: usize,
}

/// The scores of a planner in `games`, from its view, except after ten moves without progress. A
/// repeated game counts once: two equal players at fixed nodes play the same game again with
/// colours reversed.
fn samples(games: &[&GameRecord], planner: PlannerKind) -> Result<Vec<ScoredMove>> {
    let mut moves = Vec::new();
    let mut known = HashSet::new();
    let mut openings = HashMap::new();
    for (number, game) in games.iter().enumerate() {
        let next = openings.len();
        let opening = *openings.entry(game.opening.as_str()).or_insert(next);
        let line: Vec<Move> = game.moves.iter().map(|played| played.mv).collect();
        if !known.insert((game.opening.as_str(), line)) {
            continue;
        }
        let sides = [plays_as(&game.white, planner)?, plays_as(&game.black, planner)?];
        let mut position = Position::from_fen(&game.opening)?;
        for played in &game.moves {
            let side = position.board().side_to_move();
            let progresses = position.board().halfmove_clock() < WITHOUT_PROGRESS;
            let evaluation = played.evaluation.filter(|_| sides[side as usize] && progresses);
            if let Some(Evaluation::Centipawns(centipawns)) =
                evaluation.map(|evaluation| evaluation.seen_by(side))
            {
                let result = result_for(side, game.outcome);
                let material = material(position.board());
                moves.push(ScoredMove { centipawns, material, result, game: number, opening });
            }
            position.play(played.mv);
        }
    }
    Ok(moves)
}

/// Whether a player is this planner as it ships, at any limit.
fn plays_as(player: &Name, planner: PlannerKind) -> Result<bool> {
    let found = RecordedSettings::read(&player.settings)?;
    let is_altered = found.noise > 0.0 || !found.without.is_empty() || !found.set.is_empty();
    let is_verified = planner != PlannerKind::Beam || found.verify != BeamVerify::None;
    Ok(found.planner == Some(planner) && is_verified && !is_altered)
}

fn result_for(side: Color, outcome: Outcome) -> GameResult {
    match outcome {
        Outcome::Draw => GameResult::Draw,
        outcome if outcome == Outcome::win_of(side) => GameResult::Win,
        _ => GameResult::Loss,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::PlayedMove;

    #[test]
    fn a_score_belongs_to_its_side_and_mates_are_none() -> Result<()> {
        let mv = |uci: &str, evaluation| PlayedMove {
            evaluation: Some(evaluation),
            ..PlayedMove::of(uci.parse().expect("a move"))
        };
        let player = |settings: &str| Name { settings: settings.to_owned(), ..Name::default() };
        let selective = "engine=x planner=selective hash=16 nodes=100";
        let game = |white: &str, black: &str| GameRecord {
            opening: "4k3/8/8/8/8/8/4P3/4K2R w K - 0 1".to_owned(),
            moves: vec![
                mv("e2e4", Evaluation::Centipawns(500)),
                mv("e8d7", Evaluation::Centipawns(450)),
                mv("e1h1", Evaluation::Mate(20)),
            ],
            ..GameRecord::between(player(white), player(black), Outcome::WhiteWins)
        };
        let both = game(selective, selective);
        let one = GameRecord {
            opening: "4k3/8/8/8/8/8/4P3/4K2R w K - 0 9".to_owned(),
            ..game("engine=x width=3 verify=1", selective)
        };
        let sample = |centipawns, result, game| ScoredMove {
            centipawns,
            material: 6,
            result,
            game,
            opening: game,
        };
        let [win, loss] = [GameResult::Win, GameResult::Loss];
        assert_eq!(
            samples(&[&both, &one, &both], PlannerKind::Selective)?,
            [sample(500, win, 0), sample(-450, loss, 0), sample(-450, loss, 1)]
        );
        assert_eq!(samples(&[&both, &one], PlannerKind::Beam)?, [sample(500, win, 1)]);
        // Nine and a half moves without progress before the first move, ten before the second.
        let slow = GameRecord {
            opening: "4k3/8/8/8/8/8/4P3/4K2R w - - 19 30".to_owned(),
            moves: ["e1f2", "e8d7"].map(|uci| mv(uci, Evaluation::Centipawns(500))).into(),
            ..game(selective, selective)
        };
        assert_eq!(samples(&[&slow], PlannerKind::Selective)?, [sample(500, win, 0)]);
        let noisy = game("planner=selective noise=0.5", "width=3 mode=tree");
        for planner in [PlannerKind::Beam, PlannerKind::Selective] {
            assert!(samples(&[&noisy], planner)?.is_empty());
        }
        Ok(())
    }
}
