//! Which positions are positives of one another.

use serde::{Deserialize, Serialize};

/// Two positions are positives where their win probabilities differ by less than a margin (paper,
/// section 3.3). It may be narrower near equality, where most games are decided and a constant one
/// would make all positions alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Margin {
    /// The margin where a game is decided; everywhere, where there is no other.
    pub delta: f32,
    /// The margin at equality, at most `delta`; between, it grows in proportion to `|2p - 1|`.
    pub delta_equal: f32,
}

impl Margin {
    /// A place on a scale on which positives are less than 1 apart: the integral of 1 / margin from
    /// equality to `p`.
    pub fn place(self, p: f32) -> f32 {
        let distance = 2.0 * p - 1.0;
        let growth = self.delta - self.delta_equal;
        if growth <= 0.0 {
            return distance / (2.0 * self.delta);
        }
        let place = (growth / self.delta_equal * distance.abs()).ln_1p() / (2.0 * growth);
        place.copysign(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_as_far_apart_as_margins_say() {
        let constant = Margin { delta: 0.05, delta_equal: 0.05 };
        assert!((constant.place(0.75) - constant.place(0.7) - 1.0).abs() < 1e-4);
        let narrow = Margin { delta: 0.05, delta_equal: 0.01 };
        let slope = |p: f32| (narrow.place(p + 1e-3) - narrow.place(p - 1e-3)) / 2e-3;
        assert!((slope(0.5) - 100.0).abs() < 2.0, "{}", slope(0.5));
        assert!((slope(0.75) - 1.0 / 0.03).abs() < 0.5, "{}", slope(0.75));
        assert!((narrow.place(0.3) + narrow.place(0.7)).abs() < 1e-4);
    }
}
