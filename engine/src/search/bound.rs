//! Bounds: how a score relates to the true score of a position.

use std::ops::Neg;

/// How a score relates to the true score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The true score is at most this.
    Upper,
    /// The true score is at least this.
    Lower,
    /// The score is exact.
    Exact,
}

impl Bound {
    /// The bound type of `score`, returned by a search with the window `alpha`..`beta`.
    pub(super) fn of<T: PartialOrd + Copy>(score: T, alpha: T, beta: T) -> Self {
        match score {
            _ if score >= beta => Self::Lower,
            _ if score > alpha => Self::Exact,
            _ => Self::Upper,
        }
    }
}

/// The bound from the other side's view.
impl Neg for Bound {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
            Self::Exact => Self::Exact,
        }
    }
}
