//! The most likely model of scores and results, by Newton's method with Fisher's information. How
//! well chances fit the results of held-out games: proper scores and a reliability plot.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use azimuth_chess::win_probability::win_probability_of_centipawns;
use azimuth_search::WdlModel;
use nalgebra::{SMatrix, SVector};
use plotters::prelude::SeriesLabelPosition;

use super::{GameResult, ScoredMove};
use crate::plot::{Axes, Series, draw};

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
pub fn fit(moves: &[ScoredMove]) -> Result<WdlModel> {
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
            let chance = model.chances(scored.centipawns, scored.material)[scored.result as usize];
            let valid = chance > 0.0 && values(model, scored.material).width > 0.0;
            if valid { chance.ln() } else { f64::NEG_INFINITY }
        })
        .sum();
    sum / moves.len() as f64
}

/// The values of both polynomials, and the powers that their coefficients multiply.
struct Values {
    even: f64,
    width: f64,
    powers: [f64; 4],
}

fn values(model: &WdlModel, material: u32) -> Values {
    let powers = WdlModel::powers(material);
    let of = |coefficients: [f64; 4]| coefficients.iter().zip(powers).map(|(c, p)| c * p).sum();
    Values { even: of(model.even), width: of(model.width), powers }
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
                if result == scored.result as usize {
                    gradient += derivative / chance;
                }
            }
        }
    }
    Some(information.cholesky()?.solve(&gradient))
}

/// The derivatives of the chances to win, draw and lose by the coefficients.
fn derivatives(model: &WdlModel, scored: &ScoredMove, chances: [f64; 3]) -> [Vector; 3] {
    let Values { even, width, powers } = values(model, scored.material);
    let of = |chance: f64, score: f64| {
        let by_even = -chance * (1.0 - chance) / width;
        let by_width = by_even * (score - even) / width;
        Vector::from_fn(|row, _| match row {
            0..4 => by_even * powers[row],
            _ => by_width * powers[row - 4],
        })
    };
    let centipawns = f64::from(scored.centipawns);
    let [win, loss] =
        [of(chances[GameResult::Win as usize], centipawns), of(chances[2], -centipawns)];
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

/// A score with the chances that a model gives its results.
pub struct Predicted {
    pub scored: ScoredMove,
    pub chances: [f64; 3],
}

/// The chances if draws are a constant share of `2 p (1 - p)`, the chance that two games with win
/// probability `p` and no draws end differently.
pub fn constant_draws(centipawns: i32) -> [f64; 3] {
    const SHARE: f64 = 0.18;
    let p = win_probability_of_centipawns(centipawns.into());
    let draw = SHARE * 2.0 * p * (1.0 - p);
    [p - draw / 2.0, draw, 1.0 - p - draw / 2.0]
}

/// Smaller chances count as this one in the log loss: half a permille.
const LEAST_CHANCE: f64 = 0.0005;

pub fn quality(predicted: &[Predicted]) -> Quality {
    let count = predicted.len().max(1) as f64;
    let (mut log_loss, mut brier) = (0.0, 0.0);
    for Predicted { scored, chances } in predicted {
        let result = scored.result as usize;
        log_loss -= chances[result].max(LEAST_CHANCE).ln();
        let happened = |place| if place == result { 1.0 } else { 0.0 };
        let differences = chances.iter().enumerate().map(|(at, chance)| chance - happened(at));
        brier += differences.map(|difference| difference.powi(2)).sum::<f64>();
    }
    Quality { log_loss: log_loss / count, brier: brier / count }
}

/// The frequency of each result by its predicted chance, in percent, with 95% intervals that count
/// each game once.
pub fn chart(planner: &str, predicted: &[Predicted]) -> Result<String> {
    let mut series = vec![Series::new("ideal", vec![(0.0, 0.0), (100.0, 100.0)])];
    let results =
        [(GameResult::Win, "won"), (GameResult::Draw, "drawn"), (GameResult::Loss, "lost")];
    for (result, name) in results {
        series.push(curve(name, &bins(predicted, result), result));
    }
    let title = format!("Results of held-out games, {planner} planner");
    let axes = Axes {
        title: &title,
        x: "predicted chance, %",
        y: "positions with that result, %",
        logarithmic: false,
        legend: SeriesLabelPosition::LowerRight,
    };
    draw(&axes, &series)
}

/// The plot shows only intervals with at least this number of games.
const LEAST_GAMES: usize = 5;

fn curve(name: &str, bins: &[Vec<&Predicted>], result: GameResult) -> Series {
    let mut line = Series::new(name, Vec::new());
    for bin in bins {
        let games: BTreeSet<usize> = bin.iter().map(|predicted| predicted.scored.game).collect();
        if games.len() < LEAST_GAMES {
            continue;
        }
        let count = bin.len() as f64;
        let chances = bin.iter().map(|predicted| predicted.chances[result as usize]);
        let chance = 100.0 * chances.sum::<f64>() / count;
        let happened = bin.iter().filter(|predicted| predicted.scored.result == result).count();
        let frequency = happened as f64 / count;
        let error = 1.96 * (frequency * (1.0 - frequency) / games.len() as f64).sqrt();
        let ends = [(frequency - error).max(0.0), (frequency + error).min(1.0)];
        line.points.push((chance, 100.0 * frequency));
        line.intervals.push((chance, ends.map(|end| 100.0 * end)));
    }
    line
}

const BINS: usize = 10;

/// The scores by the predicted chance of a result, in intervals of equal width.
fn bins(predicted: &[Predicted], result: GameResult) -> Vec<Vec<&Predicted>> {
    let mut bins = vec![Vec::new(); BINS];
    for predicted in predicted {
        let chance = predicted.chances[result as usize];
        bins[((chance * BINS as f64) as usize).min(BINS - 1)].push(predicted);
    }
    bins
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn scored(centipawns: i32, material: u32, result: GameResult) -> ScoredMove {
        ScoredMove { centipawns, material, result, game: 0, opening: 0 }
    }

    #[test]
    fn a_known_model_is_found_in_what_it_throws() -> Result<()> {
        let known = WdlModel { even: [180.0, -90.0, 20.0, 0.0], width: [60.0, 30.0, -10.0, 4.0] };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut throw = |centipawns, material| {
            let [win, draw, _] = known.chances(centipawns, material);
            let result = match random.random::<f64>() {
                thrown if thrown < win => GameResult::Win,
                thrown if thrown < win + draw => GameResult::Draw,
                _ => GameResult::Loss,
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
        let scores = [scored(10, 60, GameResult::Draw); 20];
        let error = fit(&scores).expect_err("one score").to_string();
        assert_eq!(error, "the games do not determine the chances");
    }

    #[test]
    fn the_scores_are_those_of_the_textbook() {
        let chances = [0.5, 0.25, 0.25];
        let results = [GameResult::Win, GameResult::Draw].map(|result| scored(0, 60, result));
        let found = quality(&results.map(|scored| Predicted { scored, chances }));
        let log_loss = -(0.5f64.ln() + 0.25f64.ln()) / 2.0;
        // 0.25 + 0.0625 + 0.0625 and 0.25 + 0.5625 + 0.0625.
        assert!((found.log_loss - log_loss).abs() < 1e-12 && (found.brier - 0.625).abs() < 1e-12);
        let even = constant_draws(0);
        assert!(
            even.iter().zip([0.455, 0.09, 0.455]).all(|(one, other)| (one - other).abs() < 1e-9)
        );
    }
}
