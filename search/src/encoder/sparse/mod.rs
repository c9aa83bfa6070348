//! The sparse encoder for play: in integers, with feature sums that are updated from position to
//! position.

mod accumulator;
mod kernels;
mod quantised;

pub use kernels::Kernels;
pub use quantised::{QuantisedEncoder, largest_playable_value};
