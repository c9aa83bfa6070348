//! Deep Q-learning (seed document 003, section 3): a convolutional network says what a move is worth in a position; it
//! learns from games that it plays against itself, out of a replay buffer that favours what surprised it.

mod encoding;
mod model;
mod planner;
mod replay;
mod reward;
mod self_play;
mod training;

pub use planner::planner;
pub use training::train;
