//! DeepChess (seed document 003, section 1; David, Netanyahu and Wolf 2016). An autoencoder,
//! trained layer by layer on 773 bits, maps a position to a code. A Siamese network compares two
//! codes and predicts which position is better. Alpha-beta uses these comparisons.

mod bits;
mod model;
mod planner;
mod training;

pub use planner::planner;
pub use training::train;
