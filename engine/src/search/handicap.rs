//! Limited strength: Gaussian noise is added to the score of every position, so that the search
//! plans well with an imperfect evaluation. The noise of a position stays the same for the whole
//! game. Mate scores stay exact.

use cozy_chess::Board;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;

use azimuth_chess::position::repetition_key;

/// The amount of noise, its seed, and a limit on the size of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Handicap {
    /// Standard deviation of the noise, in logits of the win probability.
    pub deviation: f32,
    /// Seed of the noise; one per game.
    pub seed: u64,
    /// Maximum number of positions searched, also while the opponent's clock is running.
    pub nodes: Option<u64>,
}

impl Handicap {
    /// The noise of a position, in logits.
    pub(super) fn noise(&self, board: &Board) -> f32 {
        let mut random = SplitMix64::seed_from_u64(repetition_key(board) ^ self.seed);
        let normal: f32 = StandardNormal.sample(&mut random);
        normal * self.deviation
    }
}

/// Adds `noise` logits to a value in [-1, 1].
pub(super) fn blurred(value: f32, noise: f32) -> f32 {
    if noise == 0.0 {
        return value;
    }
    // With v = 2p - 1, logit(p) is 2 artanh(v).
    let certain = 1.0 - f32::EPSILON;
    (value.clamp(-certain, certain).atanh() + noise / 2.0).tanh()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_has_its_deviation_and_repeats() {
        let handicap = Handicap { deviation: 0.5, seed: 7, nodes: None };
        let noises: Vec<f32> =
            (0..960).map(|number| handicap.noise(&Board::chess960_startpos(number))).collect();
        let mean = noises.iter().sum::<f32>() / 960.0;
        let square = noises.iter().map(|noise| noise * noise).sum::<f32>() / 960.0;
        // The tolerance is four standard errors.
        assert!(mean.abs() < 0.065, "{mean}");
        assert!((square.sqrt() - 0.5).abs() < 0.046, "{}", square.sqrt());
        let board = Board::default();
        assert_eq!(handicap.noise(&board), handicap.noise(&board));
        assert_ne!(Handicap { seed: 8, ..handicap }.noise(&board), handicap.noise(&board));
    }

    #[test]
    fn blurring_moves_the_logit() {
        assert_eq!(blurred(0.3, 0.0), 0.3);
        // One logit above p = 0.6 is p = 0.8029.
        assert!((blurred(0.2, 1.0) - (2.0 * 0.803_04 - 1.0)).abs() < 1e-4);
        assert!(blurred(1.0, -1.0) < 1.0 && blurred(-1.0, 30.0).is_finite());
    }
}
