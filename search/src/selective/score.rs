//! The score scale of the selective search: centipawns of the calibrated win probability, for the
//! side to move, with exact results beyond all estimates. It maps monotonically to [`Value`] and
//! back.

use azimuth_chess::win_probability::{
    centipawns_of_win_probability, win_probability_of_centipawns,
};

use crate::value::Value;

/// Centipawns, or an exact result beyond [`DECISIVE_BOUND`].
pub(crate) type Score = i32;

/// A certain draw.
pub(crate) const DRAW: Score = 0;

/// Larger than every score.
pub(crate) const INFINITE: Score = 32_500;

const MATE: Score = 32_000;

const TABLEBASE: Score = 30_000;

/// Scores beyond this are mates.
const MATE_BOUND: Score = 31_000;

/// Scores beyond this are certain wins and losses.
const DECISIVE_BOUND: Score = 29_000;

/// Checkmated, `ply` plies from the root.
pub(crate) fn mated_in(ply: usize) -> Score {
    ply as Score - MATE
}

/// Whether the score is a certain win or loss, by mate or tablebase.
pub(super) fn is_decisive(score: Score) -> bool {
    score.abs() > DECISIVE_BOUND
}

/// Number of plies from the root to the mate of a score; `None` for other scores.
pub(super) fn plies_to_mate(score: Score) -> Option<usize> {
    (score.abs() > MATE_BOUND).then_some((MATE - score.abs()).max(0) as usize)
}

/// Whether the score is a certain loss, or no move has been searched.
pub(super) fn is_loss(score: Score) -> bool {
    score < -DECISIVE_BOUND
}

/// The score of the encoder's value in [-1, 1]. An estimate of 0 becomes 1, so that it differs from
/// a certain draw.
pub(crate) fn of_estimate(value: f32) -> Score {
    match centipawns_of_win_probability((f64::from(value) + 1.0) / 2.0) {
        DRAW => DRAW + 1,
        centipawns => centipawns,
    }
}

/// An estimate plus `by` centipawns, clamped so that it remains an estimate.
pub(super) fn corrected(estimate: Score, by: Score) -> Score {
    match (estimate + by).clamp(-DECISIVE_BOUND, DECISIVE_BOUND) {
        DRAW => DRAW + 1,
        score => score,
    }
}

/// The value of a score, for reports.
pub(crate) fn to_value(score: Score) -> Value {
    let plies = |from: Score| (from - score.abs()) as u32;
    let lost = match score.abs() {
        0 => return Value::DRAW,
        MATE_BOUND.. => Value::mated_in(plies(MATE)),
        DECISIVE_BOUND.. => Value::tablebase_loss_in(plies(TABLEBASE)),
        _ => {
            let p = win_probability_of_centipawns(score.into());
            return Value::estimate((2.0 * p - 1.0) as f32);
        }
    };
    if score > 0 { -lost } else { lost }
}

/// The score of a value; the plies to decisive results are reduced by `plies_before`.
pub(super) fn of_value(value: Value, plies_before: u32) -> Score {
    let plies = |from: Score, plies: u32| from - plies.saturating_sub(plies_before) as Score;
    let size = match (value.plies_to_mate(), value.plies_to_tablebase()) {
        _ if value <= Value::MIN || value >= Value::MAX => INFINITE,
        _ if value == Value::DRAW => return DRAW,
        (Some(mate), _) => plies(MATE, mate),
        (None, Some(tablebase)) => plies(TABLEBASE, tablebase),
        (None, None) => return of_estimate(2.0 * value.win_probability() - 1.0),
    };
    if value > Value::DRAW { size } else { -size }
}

/// Converts a score for the transposition table, which counts plies to decisive results from the
/// stored position.
pub(super) fn to_table(score: Score, ply: usize) -> Score {
    if is_decisive(score) { score + score.signum() * ply as Score } else { score }
}

/// Converts a score from the transposition table to one that counts from the root, `ply` plies
/// away.
pub(super) fn from_table(score: Score, ply: usize) -> Score {
    if is_decisive(score) { score - score.signum() * ply as Score } else { score }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_and_values_agree() {
        for cp in [-700, -31, 1, 250] {
            let value = to_value(cp);
            assert_eq!(value.to_string(), format!("cp {cp}"));
            assert_eq!(of_estimate(2.0 * value.win_probability() - 1.0), cp);
        }
        assert_eq!(to_value(DRAW), Value::DRAW);
        assert_ne!(of_estimate(0.0), DRAW);
        assert_eq!(to_value(mated_in(4)), Value::mated_in(4));
        for score in [-700, DRAW, 1, 250, mated_in(9), -mated_in(4), 20 - TABLEBASE] {
            assert_eq!(of_value(to_value(score), 0), score);
        }
        assert_eq!(of_value(Value::mated_in(70), 64), mated_in(6));
        assert_eq!([Value::MIN, Value::MAX].map(|v| of_value(v, 0)), [-INFINITE, INFINITE]);
        assert_eq!(to_value(-mated_in(3)).moves_to_mate(), Some(2));
        let loss = of_value(Value::tablebase_loss_in(7), 0);
        assert_eq!(to_value(loss), Value::tablebase_loss_in(7));
        assert!(is_decisive(loss) && is_loss(loss) && !is_decisive(15_000));
        // A corrected estimate remains an estimate and never equals a certain draw.
        assert!(!is_decisive(corrected(28_999, 100)) && !is_decisive(corrected(-28_999, -100)));
        assert_eq!((corrected(31, -40), corrected(40, -40)), (-9, DRAW + 1));
    }

    #[test]
    fn the_table_counts_from_the_position() {
        for score in [mated_in(9), -mated_in(9), 31, of_value(Value::tablebase_loss_in(9), 0)] {
            assert_eq!(from_table(to_table(score, 5), 5), score);
        }
        assert_eq!(to_table(mated_in(9), 5), mated_in(4));
    }
}
