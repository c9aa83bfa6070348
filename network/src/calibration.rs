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
/// assert!(calibration.win_probability(f32::NAN).is_nan());
/// assert!(Calibration::new(vec![0.0, 0.0], vec![0.25, 0.5]).is_err());
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Calibration {
    cosines: Vec<f32>,
    win_probabilities: Vec<f32>,
    /// For each of [`INTERVALS`] equal intervals of cosines, the number of knots below it. The
    /// search for a cosine's knots starts there.
    below: Vec<usize>,
}

/// Number of intervals of [-1, 1] with a stored start of the search for knots.
const INTERVALS: usize = 256;

/// Each stored start lies this far below its interval, because rounding may move a cosine to the
/// next interval.
const MARGIN: f32 = 1e-6;

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
        let lower = |interval: usize| 2.0 * interval as f32 / INTERVALS as f32 - 1.0 - MARGIN;
        let knots_below = |cosine: f32| cosines.partition_point(|&knot| knot <= cosine);
        let below = (0..INTERVALS).map(|interval| knots_below(lower(interval))).collect();
        Ok(Self { cosines, win_probabilities, below })
    }

    /// Cosines of the knots.
    pub fn cosines(&self) -> &[f32] {
        &self.cosines
    }

    /// Win probabilities of the knots.
    pub fn win_probabilities(&self) -> &[f32] {
        &self.win_probabilities
    }

    /// Win probability in [0, 1] of a cosine; constant beyond the outer knots. NaN stays NaN.
    #[inline]
    pub fn win_probability(&self, cosine: f32) -> f32 {
        if cosine.is_nan() {
            return cosine;
        }
        let above = self.knots_up_to(cosine);
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

    /// Number of knots up to `cosine`.
    fn knots_up_to(&self, cosine: f32) -> usize {
        let interval = ((cosine + 1.0) * (INTERVALS / 2) as f32) as usize;
        let below = self.below[interval.min(INTERVALS - 1)];
        below + self.cosines[below..].iter().take_while(|&&knot| knot <= cosine).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cosine_finds_its_knots() -> Result<()> {
        let quantiles: Vec<f32> = (-48..=48).map(|index| (index as f32 / 48.0).powi(3)).collect();
        let on_edges: Vec<f32> = (-32..=32).map(|index| index as f32 / 32.0).collect();
        for knots in [quantiles, on_edges, vec![-0.75, 0.1], vec![0.999, 1.0]] {
            let rising = (0..knots.len()).map(|index| index as f32 / knots.len() as f32).collect();
            let calibration = Calibration::new(knots.clone(), rising)?;
            let between = (-10_000..=10_000).map(|index| index as f32 / 9_990.0);
            let near = knots.iter().flat_map(|&knot| [knot.next_down(), knot, knot.next_up()]);
            for cosine in between.chain(near) {
                let expected = knots.iter().filter(|&&knot| knot <= cosine).count();
                assert_eq!(calibration.knots_up_to(cosine), expected, "{cosine}");
            }
        }
        Ok(())
    }
}
