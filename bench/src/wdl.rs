//! `azimuth-bench wdl`: fits the chances to win, draw and lose to recorded games.
//!
//! The most likely model of scores and results, by Newton's method with Fisher's information. How
//! well chances fit the results of held-out games: proper scores and a reliability plot.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::Outcome;
use azimuth_chess::position::Position;
use azimuth_chess::win_probability::win_probability_of_centipawns;
use azimuth_cli::print_line;
use azimuth_network::replace_file::{check_output, replace_file};
use azimuth_search::names::name_of;
use azimuth_search::{BeamVerify, PlannerKind, WdlModel, material};
use clap::{Args, ValueEnum};
use cozy_chess::Move;
use nalgebra::{SMatrix, SVector};
use plotters::prelude::SeriesLabelPosition;

use crate::games::{Evaluation, GameRecord, Name, read_files};
use crate::plot::{Axes, Series, draw, grouped};
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
            let chances = |scored: &ScoredMove| model.chances(scored.centipawns, scored.material);
            held_out.extend(tested.into_iter().map(|scored| (scored, chances(&scored))));
        }
        let constant = moves.iter().map(|&scored| (scored, constant_draws(scored.centipawns)));
        let before = quality(&constant.collect::<Vec<_>>());
        let games = moves.iter().map(|scored| scored.game).collect::<BTreeSet<_>>().len();
        let quality = quality(&held_out);
        Ok(Self { planner, model: fit(moves)?, games, held_out, quality, before })
    }

    pub fn plot_name(&self) -> String {
        format!("wdl-{}.svg", name_of(&self.planner))
    }

    pub fn chart(&self) -> Result<String> {
        let mut series = vec![Series::new("ideal", vec![(0.0, 0.0), (100.0, 100.0)])];
        let results = ["won", "drawn", "lost"].into_iter().enumerate();
        series.extend(results.map(|(result, name)| curve(name, &self.held_out, result)));
        let title = format!("Results of held-out games, {} planner", name_of(&self.planner));
        let axes = Axes {
            title: &title,
            x: "predicted chance, %",
            y: "positions with that result, %",
            logarithmic: false,
            legend: SeriesLabelPosition::LowerRight,
        };
        draw(&axes, &series)
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

/// A planner's score of a position, before its move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredMove {
    centipawns: i32,
    /// Of both sides, in pawns.
    material: u32,
    /// The place of the game's result, for that side, in the chances to win, draw and lose.
    result: usize,
    game: usize,
    opening: usize,
}

/// A score with the chances that a model gives its results.
pub type Predicted = (ScoredMove, [f64; 3]);

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
                let result = match game.outcome {
                    outcome if outcome == Outcome::win_of(side) => 0,
                    Outcome::Draw => 1,
                    _ => 2,
                };
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

const COEFFICIENTS: usize = 8;

/// Maximum number of iterations; a handful suffice.
const ITERATIONS: usize = 100;

/// The fit ends when a step gains less than this in the mean log likelihood.
const LEAST_GAIN: f64 = 1e-12;

/// Number of lengths of a step that are tried; each is half of the one before.
const HALVINGS: usize = 40;

/// Coefficients are rounded to 1 / `PARTS` of a centipawn, so that they are short enough for the
/// source.
const PARTS: f64 = 100.0;

/// The model at which Newton's method starts, in centipawns.
const START: WdlModel = WdlModel { even: [100.0, 0.0, 0.0, 0.0], width: [100.0, 0.0, 0.0, 0.0] };

type Vector = SVector<f64, COEFFICIENTS>;

/// The model that makes the results of `moves` most likely. Fails where they do not determine one.
fn fit(moves: &[ScoredMove]) -> Result<WdlModel> {
    let mut model = START;
    let mut likelihood = mean_log_likelihood(&model, moves);
    for _ in 0..ITERATIONS {
        let step = step(&model, moves).context("the games do not determine the chances")?;
        let better = (0..HALVINGS).find_map(|halvings| {
            let stepped = moved(&model, &(step * 0.5f64.powi(halvings as i32)));
            let found = mean_log_likelihood(&stepped, moves);
            (found > likelihood).then_some((stepped, found))
        });
        let Some((stepped, found)) = better else { break };
        let gained = found - likelihood;
        (model, likelihood) = (stepped, found);
        if gained < LEAST_GAIN {
            break;
        }
    }
    ensure!(likelihood.is_finite(), "the games do not determine the chances");
    let rounded = |coefficients: [f64; 4]| coefficients.map(|it| (it * PARTS).round() / PARTS);
    Ok(WdlModel { even: rounded(model.even), width: rounded(model.width) })
}

/// Minus infinity if the model is invalid: a result has no chance, or the width is not positive.
fn mean_log_likelihood(model: &WdlModel, moves: &[ScoredMove]) -> f64 {
    let sum: f64 = moves
        .iter()
        .map(|scored| {
            let chance = model.chances(scored.centipawns, scored.material)[scored.result];
            let valid = chance > 0.0 && values(model, scored.material)[1] > 0.0;
            if valid { chance.ln() } else { f64::NEG_INFINITY }
        })
        .sum();
    sum / moves.len() as f64
}

/// The values of the polynomials `even` and `width`.
fn values(model: &WdlModel, material: u32) -> [f64; 2] {
    let powers = WdlModel::powers(material);
    [model.even, model.width].map(|of| of.iter().zip(powers).map(|(c, p)| c * p).sum())
}

/// The step of Newton's method; `None` where the information is singular.
fn step(model: &WdlModel, moves: &[ScoredMove]) -> Option<Vector> {
    let mut gradient = Vector::zeros();
    let mut information = SMatrix::<f64, COEFFICIENTS, COEFFICIENTS>::zeros();
    for scored in moves {
        let chances = model.chances(scored.centipawns, scored.material);
        let derivatives = derivatives(model, scored, chances);
        for (result, (chance, derivative)) in chances.into_iter().zip(derivatives).enumerate() {
            if chance > f64::EPSILON {
                information.ger(1.0 / chance, &derivative, &derivative, 1.0);
                if result == scored.result {
                    gradient += derivative / chance;
                }
            }
        }
    }
    Some(information.cholesky()?.solve(&gradient))
}

/// The derivatives of the chances to win, draw and lose by the coefficients.
fn derivatives(model: &WdlModel, scored: &ScoredMove, chances: [f64; 3]) -> [Vector; 3] {
    let [even, width] = values(model, scored.material);
    let powers = WdlModel::powers(scored.material);
    let of = |chance: f64, score: f64| {
        let by_even = -chance * (1.0 - chance) / width;
        let by_width = by_even * (score - even) / width;
        Vector::from_fn(|row, _| match row {
            0..4 => by_even * powers[row],
            _ => by_width * powers[row - 4],
        })
    };
    let centipawns = f64::from(scored.centipawns);
    let [win, loss] = [of(chances[0], centipawns), of(chances[2], -centipawns)];
    [win, -win - loss, loss]
}

fn moved(model: &WdlModel, step: &Vector) -> WdlModel {
    let add = |coefficients: [f64; 4], from: usize| {
        std::array::from_fn(|place| coefficients[place] + step[from + place])
    };
    WdlModel { even: add(model.even, 0), width: add(model.width, 4) }
}

/// Proper scores: lower is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Mean of minus the logarithm of the result's chance.
    pub log_loss: f64,
    /// Mean of the squared differences, summed over the three results.
    pub brier: f64,
}

/// The chances if draws are a constant share of `2 p (1 - p)`, the chance that two games with win
/// probability `p` and no draws end differently.
fn constant_draws(centipawns: i32) -> [f64; 3] {
    const SHARE: f64 = 0.18;
    let p = win_probability_of_centipawns(centipawns.into());
    let draw = SHARE * 2.0 * p * (1.0 - p);
    [p - draw / 2.0, draw, 1.0 - p - draw / 2.0]
}

/// Smaller chances count as this one in the log loss: half a permille.
const LEAST_CHANCE: f64 = 0.0005;

fn quality(predicted: &[Predicted]) -> Quality {
    let count = predicted.len().max(1) as f64;
    let (mut log_loss, mut brier) = (0.0, 0.0);
    for &(ScoredMove { result, .. }, chances) in predicted {
        log_loss -= chances[result].max(LEAST_CHANCE).ln();
        let happened = |place| if place == result { 1.0 } else { 0.0 };
        let differences = chances.iter().enumerate().map(|(at, chance)| chance - happened(at));
        brier += differences.map(|difference| difference.powi(2)).sum::<f64>();
    }
    Quality { log_loss: log_loss / count, brier: brier / count }
}

/// The plot shows only intervals with at least this number of games.
const LEAST_GAMES: usize = 5;

/// Number of intervals of equal width.
const BINS: usize = 10;

/// The frequency of a result by its predicted chance, in percent, with 95% intervals that count
/// each game once.
fn curve(name: &str, predicted: &[Predicted], result: usize) -> Series {
    let mut bins = vec![Vec::new(); BINS];
    for (scored, chances) in predicted {
        let bin = ((chances[result] * BINS as f64) as usize).min(BINS - 1);
        bins[bin].push((scored, chances[result]));
    }
    let mut line = Series::new(name, Vec::new());
    for bin in bins {
        let games: BTreeSet<usize> = bin.iter().map(|(scored, _)| scored.game).collect();
        if games.len() < LEAST_GAMES {
            continue;
        }
        let count = bin.len() as f64;
        let chance = 100.0 * bin.iter().map(|(_, chance)| chance).sum::<f64>() / count;
        let happened = bin.iter().filter(|(scored, _)| scored.result == result).count();
        let frequency = happened as f64 / count;
        let error = 1.96 * (frequency * (1.0 - frequency) / games.len() as f64).sqrt();
        let ends = [(frequency - error).max(0.0), (frequency + error).min(1.0)];
        line.points.push((chance, 100.0 * frequency));
        line.intervals.push((chance, ends.map(|end| 100.0 * end)));
    }
    line
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

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
        let [win, loss] = [0, 2];
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

    fn scored(centipawns: i32, material: u32, result: usize) -> ScoredMove {
        ScoredMove { centipawns, material, result, game: 0, opening: 0 }
    }

    #[test]
    fn a_known_model_is_found_in_what_it_throws() -> Result<()> {
        let known = WdlModel { even: [180.0, -90.0, 20.0, 0.0], width: [60.0, 30.0, -10.0, 4.0] };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut throw = |centipawns, material| {
            let [win, draw, _] = known.chances(centipawns, material);
            let result = match random.random::<f64>() {
                thrown if thrown < win => 0,
                thrown if thrown < win + draw => 1,
                _ => 2,
            };
            scored(centipawns, material, result)
        };
        let moves: Vec<ScoredMove> = (0..60_000)
            .map(|number| throw(number * 7919 % 801 - 400, number as u32 * 29 % 62 + 17))
            .collect();
        let found = fit(&moves)?;
        for material in [17, 30, 58, 78] {
            for centipawns in [-300, -100, 0, 50, 200] {
                let pairs = known.chances(centipawns, material).into_iter();
                for (chance, other) in pairs.zip(found.chances(centipawns, material)) {
                    assert!((chance - other).abs() < 0.03, "{centipawns} {material}: {other}");
                }
            }
        }
        assert!(mean_log_likelihood(&found, &moves) >= mean_log_likelihood(&known, &moves));
        Ok(())
    }

    #[test]
    fn too_few_scores_are_refused() {
        let scores = [scored(10, 60, 1); 20];
        let error = fit(&scores).expect_err("one score").to_string();
        assert_eq!(error, "the games do not determine the chances");
    }

    #[test]
    fn the_scores_are_those_of_the_textbook() {
        let chances = [0.5, 0.25, 0.25];
        let found = quality(&[0, 1].map(|result| (scored(0, 60, result), chances)));
        let log_loss = -(0.5f64.ln() + 0.25f64.ln()) / 2.0;
        // 0.25 + 0.0625 + 0.0625 and 0.25 + 0.5625 + 0.0625.
        assert!((found.log_loss - log_loss).abs() < 1e-12 && (found.brier - 0.625).abs() < 1e-12);
        let even = constant_draws(0);
        assert!(
            even.iter().zip([0.455, 0.09, 0.455]).all(|(one, other)| (one - other).abs() < 1e-9)
        );
    }
}
