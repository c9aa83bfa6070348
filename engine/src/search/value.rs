//! The one scale of the search: expected score of the side to move, exact results included.

use std::fmt;
use std::ops::Neg;

use crate::axis::centipawns_of_win_probability;

/// Distance of mates from all other values.
const MATE: f32 = 4.0;

/// A mate a ply later is worth this much less. A power of two, so that sums are exact.
const PLY: f32 = 1.0 / 1024.0;

/// What a position is worth to its side to move: in [-1, 1] for `2p - 1` of a win probability p, 0
/// for a draw, beyond for mates, shorter ones further out.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Value(f32);

impl Value {
    /// A certain draw, and an even chance.
    pub const DRAW: Self = Self(0.0);

    /// Below every value.
    pub const MIN: Self = Self(-2.0 * MATE);

    /// Above every value.
    pub const MAX: Self = Self(2.0 * MATE);

    /// An estimate, `2p - 1`.
    pub fn estimate(value: f32) -> Self {
        Self(value.clamp(-1.0, 1.0))
    }

    /// Checkmated, `ply` plies from the root.
    pub fn mated_at(ply: u32) -> Self {
        Self(PLY * ply as f32 - MATE)
    }

    /// Moves until mate, negative where the side to move is mated; `None` for all other values.
    pub fn mate_in(self) -> Option<i32> {
        let plies = ((MATE - self.0.abs()) / PLY).round() as i32;
        (self.0.abs() > 1.0).then_some(if self.0 > 0.0 { (plies + 1) / 2 } else { -(plies / 2) })
    }

    /// Win probability of the side to move, in [0, 1].
    pub fn win_probability(self) -> f32 {
        (self.0.clamp(-1.0, 1.0) + 1.0) / 2.0
    }

    /// The total order of values.
    pub fn order(self, other: Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Neg for Value {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

/// As UCI writes it: `cp 31` or `mate -2`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mate_in() {
            Some(moves) => write!(f, "mate {moves}"),
            None => {
                let p = f64::from(self.win_probability());
                write!(f, "cp {}", centipawns_of_win_probability(p))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_mates_come_first() {
        let (soon, late) = (-Value::mated_at(1), -Value::mated_at(3));
        assert!(soon > late && late > Value::estimate(1.0));
        assert_eq!((soon.mate_in(), late.mate_in()), (Some(1), Some(2)));
        assert_eq!(Value::mated_at(2).to_string(), "mate -1");
        assert_eq!(Value::mated_at(0).mate_in(), Some(0));
        assert!(Value::mated_at(2) < Value::mated_at(4));
        assert!(Value::mated_at(2) < Value::estimate(-1.0));
    }

    #[test]
    fn centipawns_follow_the_win_probability() {
        assert_eq!(Value::DRAW.to_string(), "cp 0");
        // p = 1 / (1 + exp(-0.368208)) is one pawn.
        assert_eq!(Value::estimate(2.0 * 0.591_026 - 1.0).to_string(), "cp 100");
        assert_eq!(Value::estimate(1.0).to_string(), "cp 15000");
    }
}
