//! Conversions between centipawns and win probabilities.

/// Slope of the logistic function from centipawns to win probability, as in lichess and ChessBench:
/// `p = 1 / (1 + exp(-0.00368208 cp))`.
const WIN_PROBABILITY_SLOPE: f64 = 0.003_682_08;

/// Largest centipawn score of a win that is not proved.
const CENTIPAWN_LIMIT: i32 = 15_000;

/// Win probability in [0, 1] of a score in centipawns.
pub fn win_probability_of_centipawns(centipawns: f64) -> f64 {
    1.0 / (1.0 + (-WIN_PROBABILITY_SLOPE * centipawns).exp())
}

/// Centipawns, from -15,000 to 15,000, of a win probability in [0, 1]: the inverse of
/// [`win_probability_of_centipawns`].
///
/// ```
/// use azimuth_chess::win_probability::{
///     centipawns_of_win_probability, win_probability_of_centipawns,
/// };
///
/// assert_eq!(win_probability_of_centipawns(0.0), 0.5);
/// assert_eq!(centipawns_of_win_probability(win_probability_of_centipawns(-120.0)), -120);
/// assert_eq!(centipawns_of_win_probability(1.0), 15_000);
/// ```
pub fn centipawns_of_win_probability(p: f64) -> i32 {
    let centipawns = (p / (1.0 - p)).ln() / WIN_PROBABILITY_SLOPE;
    let limit = f64::from(CENTIPAWN_LIMIT);
    if centipawns.is_nan() { 0 } else { centipawns.clamp(-limit, limit).round() as i32 }
}
