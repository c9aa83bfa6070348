//! The evaluation-only network (seed document 004, section 2.3.4): a residual tower that predicts
//! the value of positions, under alpha-beta. The search depth increases as pieces leave the board.

mod model;
mod planner;
mod training;

pub use planner::planner;
pub use training::{Labelled, labelled, train, value_metrics};
