//! Minimax with alpha-beta pruning (seed document 003, sections 1 and 2; 004, section 2.3.4). It
//! needs only a [`Judge`] whose representations of positions tell which is better: their values, or
//! codes that can only be compared. White maximises and Black minimises, as in the documents. The
//! depth is the same for all lines, and there is no quiescence search. On request the search
//! remembers results.

mod evaluation;
mod planner;
mod search;

pub use evaluation::{Judge, Leaf};
pub use planner::{AlphaBeta, DEFAULT_DEPTH};

/// Number of positions that a network evaluates at a time.
pub const NETWORK_AT_ONCE: usize = 8;
