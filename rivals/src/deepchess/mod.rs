//! DeepChess (seed document 003, section 1; David, Netanyahu and Wolf 2016): an autoencoder over 773 bits, trained layer
//! by layer, makes a position a code; a Siamese network on two codes says which of two positions is better; alpha-beta
//! compares with it.

mod bits;
mod model;
mod planner;
mod training;

pub use planner::planner;
pub use training::train;
