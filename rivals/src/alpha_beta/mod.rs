//! Minimax with alpha-beta pruning (seed document 003, sections 1 and 2; 004, section 2.3.4). It
//! needs only a [`Judge`] that says which of two positions is better: one that evaluates positions,
//! or one that only compares them. White maximises and Black minimises, as in the documents. The
//! depth is the same for all lines, and there is no quiescence search. On request the search
//! remembers results.

mod evaluation;
mod planner;
mod search;

pub use evaluation::{Evaluates, Evaluation, Judge};
pub use planner::{AlphaBeta, DEFAULT_DEPTH};

/// Number of positions that a network evaluates at a time.
pub const NETWORK_AT_ONCE: usize = 8;
