//! The most likely model of scores and results, by Newton's method with Fisher's information.

use anyhow::{Context, Result, ensure};
use azimuth::search::WdlModel;
use nalgebra::{SMatrix, SVector};

use super::samples::{GameResult, ScoredMove};

/// Number of coefficients of both polynomials.
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

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

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
            ScoredMove { centipawns, material, result, game: 0, opening: 0 }
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
        let scored = ScoredMove {
            centipawns: 10,
            material: 60,
            result: GameResult::Draw,
            game: 0,
            opening: 0,
        };
        let error = fit(&[scored; 20]).expect_err("one score").to_string();
        assert_eq!(error, "the games do not determine the chances");
    }
}
