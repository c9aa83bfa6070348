//! The criterion for positives of the contrastive loss.

use serde::{Deserialize, Serialize};

/// Two positions are positives if their win probabilities differ by less than a threshold (paper,
/// section 3.3). The threshold may be smaller near equality: most games are decided there, and a
/// constant threshold would make all positions of that range similar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PositiveThreshold {
    /// The threshold for decided positions.
    pub delta: f32,
    /// The threshold at equality, at most `delta`. In between, it grows linearly with `|2p - 1|`.
    pub delta_equal: f32,
}

impl PositiveThreshold {
    /// The coordinate of `p` on a scale on which positives are less than 1 apart: the integral of
    /// `1 / threshold` from equality to `p`.
    pub fn coordinate(self, p: f32) -> f32 {
        let distance = 2.0 * p - 1.0;
        let growth = self.delta - self.delta_equal;
        if growth <= 0.0 {
            return distance / (2.0 * self.delta);
        }
        let coordinate = (growth / self.delta_equal * distance.abs()).ln_1p() / (2.0 * growth);
        coordinate.copysign(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_as_far_apart_as_thresholds_say() {
        let constant = PositiveThreshold { delta: 0.05, delta_equal: 0.05 };
        assert!((constant.coordinate(0.75) - constant.coordinate(0.7) - 1.0).abs() < 1e-4);
        let narrow = PositiveThreshold { delta: 0.05, delta_equal: 0.01 };
        let slope = |p: f32| (narrow.coordinate(p + 1e-3) - narrow.coordinate(p - 1e-3)) / 2e-3;
        assert!((slope(0.5) - 100.0).abs() < 2.0, "{}", slope(0.5));
        assert!((slope(0.75) - 1.0 / 0.03).abs() < 0.5, "{}", slope(0.75));
        assert!((narrow.coordinate(0.3) + narrow.coordinate(0.7)).abs() < 1e-4);
    }
}
