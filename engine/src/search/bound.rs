//! What a score says of the true one, for a search that looks no further than it has to.

use std::ops::Neg;

/// What a score says of the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It is at most this.
    Upper,
    /// It is at least this.
    Lower,
    /// It is this.
    Exact,
}

impl Bound {
    /// What `score` says, found by a search between `alpha` and `beta`.
    pub(super) fn of<T: PartialOrd + Copy>(score: T, alpha: T, beta: T) -> Self {
        match score {
            _ if score >= beta => Self::Lower,
            _ if score > alpha => Self::Exact,
            _ => Self::Upper,
        }
    }
}

/// From the other side's view.
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
