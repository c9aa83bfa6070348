//! DiffuSearch (seed document 003, section 4; Ye et al. 2025): a discrete diffusion over state, action, next state, next
//! action and so on. The state is given, the rest begins as noise (absorbing: all of it masked) and is uncovered step by
//! step; the first action is played. The future is in what is uncovered, and there is no other search.

mod model;
mod noise;
mod planner;
mod sequences;
mod training;

pub use planner::planner;
pub use training::train;
