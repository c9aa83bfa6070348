//! How well chances fit the results of held-out games: proper scores and a reliability plot.

use std::collections::BTreeSet;

use anyhow::Result;
use azimuth_chess::win_probability::win_probability_of_centipawns;
use plotters::prelude::SeriesLabelPosition;

use super::samples::{GameResult, ScoredMove};
use crate::plot::{Axes, Series, draw};

/// Smaller chances count as this one in the log loss: half a permille.
const LEAST_CHANCE: f64 = 0.0005;

/// Number of intervals of chances in the plot.
const BINS: usize = 10;

/// The plot shows only intervals with at least this number of games.
const LEAST_GAMES: usize = 5;

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
pub fn constant_draws(centipawns: i32) -> [f64; 3] {
    const SHARE: f64 = 0.18;
    let p = win_probability_of_centipawns(centipawns.into());
    let draw = SHARE * 2.0 * p * (1.0 - p);
    [p - draw / 2.0, draw, 1.0 - p - draw / 2.0]
}

/// A score with the chances that a model gives its results.
pub struct Predicted {
    pub scored: ScoredMove,
    pub chances: [f64; 3],
}

impl Predicted {
    pub fn new(scored: ScoredMove, chances: [f64; 3]) -> Self {
        Self { scored, chances }
    }
}

/// The quality of the chances.
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
    let ideal = vec![(0.0, 0.0), (100.0, 100.0)];
    let mut series =
        vec![Series { name: "ideal".to_owned(), points: ideal, intervals: Vec::new() }];
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

fn curve(name: &str, bins: &[Vec<&Predicted>], result: GameResult) -> Series {
    let mut line = Series { name: name.to_owned(), points: Vec::new(), intervals: Vec::new() };
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
    use super::*;

    #[test]
    fn the_scores_are_those_of_the_textbook() {
        let scored =
            |result| ScoredMove { centipawns: 0, material: 60, result, game: 0, opening: 0 };
        let chances = [0.5, 0.25, 0.25];
        let results = [GameResult::Win, GameResult::Draw].map(scored);
        let found = quality(&results.map(|scored| Predicted::new(scored, chances)));
        let log_loss = -(0.5f64.ln() + 0.25f64.ln()) / 2.0;
        // 0.25 + 0.0625 + 0.0625 and 0.25 + 0.5625 + 0.0625.
        assert!((found.log_loss - log_loss).abs() < 1e-12 && (found.brier - 0.625).abs() < 1e-12);
        let even = constant_draws(0);
        assert!(
            even.iter().zip([0.455, 0.09, 0.455]).all(|(one, other)| (one - other).abs() < 1e-9)
        );
    }
}
