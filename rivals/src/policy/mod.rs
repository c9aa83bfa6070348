//! The policy network (seed document 004, section 2.3.1): a residual tower on 20 planes with 4,672
//! outputs, trained with the cross-entropy on the best move. It plays the most probable legal move
//! without search.

mod model;
mod planner;
mod training;

pub use planner::planner;
pub use training::{policy_metrics, preferences, train};
