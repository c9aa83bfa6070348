//! The NNUE (seed document 004, section 2.3.5): HalfKP, 40,960 features a side to 256 neurons that both sides share, then
//! 32, 32 and 1, with clipped ReLU. It plays in integers, its sums are updated from position to position, and minimax
//! with alpha-beta looks ahead.

mod accumulators;
mod features;
mod model;
mod planner;
mod quantised;
mod training;

pub use planner::planner;
pub use training::train;
