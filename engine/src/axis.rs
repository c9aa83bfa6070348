//! The advantage axis: embeddings to cosines (paper, section 3.4), cosines to win probabilities
//! through a fitted calibration, and win probabilities to centipawns and back.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// Slope of the logistic between centipawns and win probability, as lichess and ChessBench have it:
/// `p = 1 / (1 + exp(-0.00368208 cp))`.
const WIN_PROBABILITY_SLOPE: f64 = 0.003_682_08;

/// Largest centipawn score that is reported for a win that is not proved.
const CENTIPAWN_LIMIT: i32 = 15_000;

/// Draws for each expected one of two coins thrown with the win probability: fitted to the
/// 1,900 games of `bench/results/strength.pgn.zst`, over the scores that Azimuth gave in them.
const DRAW_SHARE: f64 = 0.18;

/// Win probability in [0, 1] of a score in centipawns.
pub fn win_probability_of_centipawns(centipawns: f64) -> f64 {
    1.0 / (1.0 + (-WIN_PROBABILITY_SLOPE * centipawns).exp())
}

/// Centipawns of a win probability, the inverse of [`win_probability_of_centipawns`].
pub fn centipawns_of_win_probability(p: f64) -> i32 {
    let centipawns = (p / (1.0 - p)).ln() / WIN_PROBABILITY_SLOPE;
    let limit = f64::from(CENTIPAWN_LIMIT);
    if centipawns.is_nan() { 0 } else { centipawns.clamp(-limit, limit).round() as i32 }
}

/// Chances to win, draw and lose, in permille and 1000 in all, of a win probability: `p = win + draw / 2`
/// holds, and draws are the share of `2 p (1 - p)` that they were in the engine's own games.
pub fn wdl_of_win_probability(p: f64) -> [u32; 3] {
    let draw = DRAW_SHARE * 2.0 * p * (1.0 - p);
    let win = (1000.0 * (p - draw / 2.0)).round().clamp(0.0, 1000.0) as u32;
    let draw = (1000.0 * draw).round().clamp(0.0, f64::from(1000 - win)) as u32;
    [win, draw, 1000 - win - draw]
}

/// Which direction of the space a weights file plays by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The paper's: mean of the positions where the encoder's side mates minus mean of those where
    /// it is mated.
    Mates,
    /// A direction fitted to the win probability on the frozen embeddings.
    Fitted,
}

/// The stored directions of a space, and the one that scores are read along.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Mean embedding of forced mates for White (or, in a space seen by the side to move, for it).
    pub white_mean: Vec<f32>,
    /// Mean embedding of forced mates for the other side.
    pub black_mean: Vec<f32>,
    /// The fitted direction, where there is one.
    pub fitted: Option<Vec<f32>>,
    direction: Direction,
    unit: Vec<f32>,
}

impl Axis {
    /// Reads along `direction`. Fails where the dimensions differ, a value is not finite or the
    /// direction has no length.
    pub fn new(
        white_mean: Vec<f32>,
        black_mean: Vec<f32>,
        fitted: Option<Vec<f32>>,
        direction: Direction,
    ) -> Result<Self> {
        ensure!(
            white_mean.len() == black_mean.len(),
            "axis.white_mean and axis.black_mean differ in length"
        );
        let along = match (direction, &fitted) {
            (Direction::Mates, _) => {
                white_mean.iter().zip(&black_mean).map(|(w, b)| w - b).collect()
            }
            (Direction::Fitted, Some(fitted)) => fitted.clone(),
            (Direction::Fitted, None) => anyhow::bail!("axis.fitted is missing"),
        };
        ensure!(along.len() == white_mean.len(), "axis.fitted has the wrong length");
        let length = along.iter().map(|value| value * value).sum::<f32>().sqrt();
        ensure!(length.is_finite() && length > 0.0, "the axis has no length or is not finite");
        let unit = along.iter().map(|value| value / length).collect();
        Ok(Self { white_mean, black_mean, fitted, direction, unit })
    }

    /// Which direction scores are read along.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Dimension of the space.
    pub fn dim(&self) -> usize {
        self.unit.len()
    }

    /// The direction, of length 1.
    pub fn unit(&self) -> &[f32] {
        &self.unit
    }

    /// Cosine in [-1, 1] between a unit embedding and the direction.
    pub fn cosine(&self, embedding: &[f32]) -> f32 {
        self.unit.iter().zip(embedding).map(|(a, z)| a * z).sum()
    }

    /// Cosines of embeddings stored row by row.
    pub fn cosines(&self, embeddings: &[f32]) -> Vec<f32> {
        embeddings.chunks_exact(self.dim()).map(|embedding| self.cosine(embedding)).collect()
    }
}

/// A strictly rising, piecewise linear map from cosine to win probability.
#[derive(Clone, Debug)]
pub struct Calibration {
    cosines: Vec<f32>,
    win_probabilities: Vec<f32>,
}

impl Calibration {
    /// Knots with rising cosines and rising win probabilities in [0, 1].
    pub fn new(cosines: Vec<f32>, win_probabilities: Vec<f32>) -> Result<Self> {
        let rising = |values: &[f32]| {
            values.iter().all(|value| value.is_finite()) && values.is_sorted_by(|a, b| a < b)
        };
        ensure!(
            cosines.len() >= 2 && cosines.len() == win_probabilities.len(),
            "calibration needs as many cosines as win probabilities, and at least two"
        );
        ensure!(rising(&cosines), "calibration.cosine does not rise");
        ensure!(rising(&win_probabilities), "calibration.win_probability does not rise");
        ensure!(
            win_probabilities.iter().all(|p| (0.0..=1.0).contains(p)),
            "calibration.win_probability leaves [0, 1]"
        );
        Ok(Self { cosines, win_probabilities })
    }

    /// Cosines of the knots.
    pub fn cosines(&self) -> &[f32] {
        &self.cosines
    }

    /// Win probabilities of the knots.
    pub fn win_probabilities(&self) -> &[f32] {
        &self.win_probabilities
    }

    /// Win probability in [0, 1] of a cosine; constant beyond the outer knots.
    pub fn win_probability(&self, cosine: f32) -> f32 {
        let above = self.cosines.partition_point(|&knot| knot <= cosine);
        if above == 0 {
            return self.win_probabilities[0];
        }
        if above == self.cosines.len() {
            return self.win_probabilities[above - 1];
        }
        let (left, right) = (self.cosines[above - 1], self.cosines[above]);
        let (low, high) = (self.win_probabilities[above - 1], self.win_probabilities[above]);
        low + (high - low) * (cosine - left) / (right - left)
    }
}
