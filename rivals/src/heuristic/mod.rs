//! The hand-written evaluation (seed document 003, section 2) under alpha-beta. It has no weights.

mod evaluation;
mod piece_square;
mod planner;

pub use planner::planner;
