//! Conversions between centipawns and win probabilities.

/// Slope of the logistic function from centipawns to win probability, as in lichess and ChessBench:
/// `p = 1 / (1 + exp(-0.00368208 cp))`.
const WIN_PROBABILITY_SLOPE: f64 = 0.003_682_08;

/// Largest centipawn score of a win that is not proved.
const CENTIPAWN_LIMIT: i32 = 15_000;

/// Draws for each expected one of two coins thrown with the win probability: fitted to the
/// 1,900 games of `bench/results/strength.pgn.zst`, over the scores that Azimuth gave in them.
const DRAW_SHARE: f64 = 0.18;

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

/// Chances to win, draw and lose, in permille and 1000 in all, of a win probability: `p = win + draw / 2`
/// holds, and draws are the share of `2 p (1 - p)` that they were in the engine's own games.
pub fn wdl_of_win_probability(p: f64) -> [u32; 3] {
    let draw = DRAW_SHARE * 2.0 * p * (1.0 - p);
    let win = (1000.0 * (p - draw / 2.0)).round().clamp(0.0, 1000.0) as u32;
    let draw = (1000.0 * draw).round().clamp(0.0, f64::from(1000 - win)) as u32;
    [win, draw, 1000 - win - draw]
}
