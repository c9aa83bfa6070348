//! The NNUE (seed document 004, section 2.3.5): HalfKP, with 40,960 features a side. Both sides
//! share a layer of 256 neurons; layers of 32, 32 and 1 follow, with clipped ReLU. It plays with
//! quantised weights and incrementally updated sums, under alpha-beta.

mod model;
mod quantised;
mod training;

pub use quantised::planner;
pub use training::train;
