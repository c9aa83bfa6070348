//! DeepChess (seed document 003, section 1; David, Netanyahu and Wolf 2016). An autoencoder,
//! trained layer by layer on 773 bits, maps a position to a code. A Siamese network compares two
//! codes and predicts which position is better, and alpha-beta uses these comparisons; or it takes
//! the codes of a position and its successor and gives the score that alpha-beta uses.

mod model;
mod training;

pub use model::planner;
pub use training::train;
