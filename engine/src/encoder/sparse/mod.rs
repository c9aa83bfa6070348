//! The sparse encoder for play: in integers, with feature sums that are updated from position to
//! position.

mod accumulator;
mod direction;
mod kernels;
mod middle_layer;
mod quantised;
mod unit_order;

pub use kernels::Kernels;
pub use quantised::{LARGEST_PLAYABLE_VALUE, QuantisedEncoder};
