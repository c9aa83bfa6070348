//! The advantage axis: from embeddings to cosines (paper, section 3.4).

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// The direction of the space whose cosines are the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The paper's: mean of the positions where the encoder's side mates minus mean of those where
    /// it is mated.
    Mates,
    /// The mean of the positions where the encoder's side mates. The cosine with it measures how
    /// similar a position is to them (the authors' published code).
    Nearest,
    /// A direction fitted to the win probability on the frozen embeddings.
    Fitted,
}

/// The stored directions of a space, and the direction in use.
///
/// ```
/// use azimuth_network::axis::{Axis, Direction};
///
/// let (white, black) = (vec![0.6, 0.8], vec![0.6, -0.8]);
/// let axis = Axis::new(white, black, None, Direction::Mates)?;
/// assert_eq!(axis.unit(), [0.0, 1.0]);
/// // Cosines of unit vectors lie in [-1, 1]: the higher, the better for the encoder's side.
/// assert_eq!(axis.cosines(&[0.0, 1.0, 1.0, 0.0, 0.0, -1.0]), [1.0, 0.0, -1.0]);
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Axis {
    /// Mean embedding of forced mates for White (in a space seen by the side to move, for that
    /// side).
    pub white_mean: Vec<f32>,
    /// Mean embedding of forced mates for the other side.
    pub black_mean: Vec<f32>,
    /// The fitted direction, where there is one.
    pub fitted: Option<Vec<f32>>,
    direction: Direction,
    unit: Vec<f32>,
}

impl Axis {
    /// An axis along `direction`. Fails if the dimensions differ, a value is not finite or the
    /// direction has length 0.
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
        let is_as_long = fitted.as_ref().is_none_or(|fitted| fitted.len() == white_mean.len());
        ensure!(is_as_long, "axis.fitted has the wrong length");
        let mut values = white_mean.iter().chain(&black_mean).chain(fitted.iter().flatten());
        ensure!(values.all(|value| value.is_finite()), "a value of the axis is not finite");
        let along = match (direction, &fitted) {
            (Direction::Mates, _) => {
                white_mean.iter().zip(&black_mean).map(|(w, b)| w - b).collect()
            }
            (Direction::Nearest, _) => white_mean.clone(),
            (Direction::Fitted, Some(fitted)) => fitted.clone(),
            (Direction::Fitted, None) => anyhow::bail!("axis.fitted is missing"),
        };
        let length = along.iter().map(|value| value * value).sum::<f32>().sqrt();
        ensure!(length.is_finite() && length > 0.0, "the axis has no length or is not finite");
        let unit = along.iter().map(|value| value / length).collect();
        Ok(Self { white_mean, black_mean, fitted, direction, unit })
    }

    /// The direction in use.
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
