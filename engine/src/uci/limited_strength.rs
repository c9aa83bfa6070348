//! `UCI_LimitStrength` and `UCI_Elo`: the amount of noise for each rating.

use std::ops::RangeInclusive;

/// Depth, in plies, of a search with limited strength. The ratings were measured at this depth, so
/// they hold at any time control.
pub const LIMITED_DEPTH: u32 = 6;

/// Elo and the standard deviation, in logits, of the noise that gives it. Measured with the default
/// weights and the beam of width 3 and depth 6, on the scale of Stockfish 16's `UCI_Elo` at 50 ms a
/// move. The games are in `bench/results/limited.pgn.zst`.
const MEASURED: [(f32, f32); 11] = [
    (665.0, 0.7),
    (742.0, 0.6),
    (950.0, 0.5),
    (1104.0, 0.4),
    (1287.0, 0.3),
    (1346.0, 0.25),
    (1417.0, 0.2),
    (1523.0, 0.15),
    (1666.0, 0.1),
    (1792.0, 0.05),
    (1818.0, 0.0),
];

/// Range of `UCI_Elo`.
pub const WEAKEST_TO_STRONGEST: RangeInclusive<u32> =
    MEASURED[0].0 as u32..=MEASURED[MEASURED.len() - 1].0 as u32;

/// The standard deviation of [`crate::search::Handicap`] for a rating: interpolated linearly in
/// `MEASURED` and constant outside it.
pub fn noise_of_elo(elo: u32) -> f32 {
    let elo = elo as f32;
    let above = MEASURED.partition_point(|&(measured, _)| measured < elo);
    let (high_elo, high) = MEASURED[above.min(MEASURED.len() - 1)];
    let (low_elo, low) = MEASURED[above.saturating_sub(1)];
    if high_elo == low_elo {
        return high;
    }
    // This form is exact at both ends, so that the highest rating has no noise.
    let share = (elo - low_elo) / (high_elo - low_elo);
    low * (1.0 - share) + high * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_elo_is_less_noise() {
        let (weakest, strongest) = WEAKEST_TO_STRONGEST.into_inner();
        assert_eq!((noise_of_elo(weakest), noise_of_elo(strongest)), (MEASURED[0].1, 0.0));
        assert!((weakest..strongest).all(|elo| noise_of_elo(elo) > noise_of_elo(elo + 1)));
    }
}
