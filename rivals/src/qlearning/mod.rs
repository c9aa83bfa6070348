//! Deep Q-learning (seed document 003, section 3): a convolutional network predicts the value of a
//! move in a position. It learns from self-play, with a replay buffer that favours transitions with
//! large errors.

mod model;
mod self_play;
mod training;

pub use model::planner;
pub use training::train;
