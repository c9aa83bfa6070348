//! The sparse encoder as it plays: in integers, with its feature sums kept from position to position.

mod accumulator;
mod direction;
mod kernels;
mod middle_layer;
mod quantised;
mod unit_order;

pub use kernels::Kernels;
pub use quantised::{QuantisedEncoder, largest_playable_value};
