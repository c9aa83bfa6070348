//! The pentanomial of a match of two players: its game pairs (one opening, both colours) by points.
//!
//! The two games of a pair are correlated, because an opening favours a side, so the error is that
//! of the pair scores, as Fishtest and fastchess compute it.

use serde::{Deserialize, Serialize};

/// The possible scores of a pair: 0, 0.5, 1, 1.5 and 2 points, divided by 2.
pub const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Half-width of a 95% interval in standard errors.
pub const NORMAL_95: f64 = 1.959_963_984_540_054;

/// Normalized Elo of one standard deviation of a game's score.
const NORMALIZED: f64 = 800.0 / std::f64::consts::LN_10;

/// Number of pairs by the first player's points: 0, 0.5, 1, 1.5, 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pentanomial(pub [u64; 5]);

/// A value with the half-width of its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithError {
    pub value: f64,
    pub error: f64,
}

impl Pentanomial {
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Mean of the pairs' scores, in [0, 1].
    pub fn mean(&self) -> f64 {
        let total = self.pairs() as f64;
        SCORES.iter().zip(self.0).map(|(score, count)| score * count as f64 / total).sum()
    }

    /// Variance of a pair's score.
    pub fn variance(&self) -> f64 {
        let (total, mean) = (self.pairs() as f64, self.mean());
        let part = |(score, count): (&f64, u64)| (score - mean).powi(2) * count as f64 / total;
        SCORES.iter().zip(self.0).map(part).sum()
    }

    /// Elo difference of the logistic model, with its error; `None` if every pair was won, every
    /// pair was lost, or there are no pairs.
    pub fn logistic_elo(&self) -> Option<WithError> {
        let mean = self.mean();
        (mean > 0.0 && mean < 1.0).then_some(())?;
        let spread = NORMAL_95 * (self.variance() / self.pairs() as f64).sqrt();
        let ends =
            [mean + spread, mean - spread].map(|score| logistic(score.clamp(1e-6, 1.0 - 1e-6)));
        Some(WithError { value: logistic(mean), error: (ends[0] - ends[1]) / 2.0 })
    }

    /// Normalized Elo: the score in standard deviations of one game (van den Bergh, "Normalized
    /// Elo", 2020), with its error; `None` if all pairs have the same score.
    pub fn normalized_elo(&self) -> Option<WithError> {
        let game_deviation = (2.0 * self.variance()).sqrt();
        (game_deviation > 0.0).then_some(())?;
        let elo = |score: f64| (score - 0.5) / game_deviation * NORMALIZED;
        let spread = NORMAL_95 * (self.variance() / self.pairs() as f64).sqrt();
        Some(WithError { value: elo(self.mean()), error: elo(0.5 + spread) })
    }
}

/// Elo difference at which the expected score is `score`.
pub fn logistic(score: f64) -> f64 {
    -400.0 * (1.0 / score - 1.0).log10()
}

/// Expected score at a difference of `elo`.
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// Distance of the score from 1/2 in standard deviations of a pair, at a normalized Elo.
pub fn pair_deviations(normalized_elo: f64) -> f64 {
    normalized_elo / NORMALIZED * std::f64::consts::SQRT_2
}
