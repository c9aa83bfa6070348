//! Embedding-guided beam search (paper, section 3.4): all legal children are scored, the best few
//! for the side to move are kept and expanded, and minimax over the kept moves backs up the values.

mod batched_quiescence;
mod iteration;
mod planner;
mod search;
mod settings;
#[cfg(test)]
mod tests;
mod tree;
mod verification;
#[cfg(test)]
mod verification_tests;
mod verified_search;

pub use planner::Beam;
pub use search::rank_with_policy;
pub use settings::{BeamSettings, BeamVerify};
