//! The calibration: from cosines with the axis to win probabilities.

use anyhow::{Result, ensure};

/// A strictly increasing, piecewise linear map from cosine, in [-1, 1], to win probability, in [0,
/// 1].
///
/// ```
/// use azimuth_network::calibration::Calibration;
///
/// let calibration = Calibration::new(vec![-0.5, 0.0, 0.5], vec![0.25, 0.5, 1.0])?;
/// assert_eq!(calibration.win_probability(0.25), 0.75);
/// // It is constant beyond the outer knots.
/// assert_eq!(calibration.win_probability(-1.0), 0.25);
/// assert!(Calibration::new(vec![0.0, 0.0], vec![0.25, 0.5]).is_err());
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Calibration {
    cosines: Vec<f32>,
    win_probabilities: Vec<f32>,
}

impl Calibration {
    /// A calibration with these knots. Fails unless cosines and win probabilities increase strictly
    /// and the latter lie in [0, 1].
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
    #[inline]
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
