//! Encoders for play: they map positions to unit vectors through one interface. [`build`] makes
//! them from weights.

mod build;
mod encode_error;
mod interface;
pub mod sparse;
pub mod transformer;

pub use build::build;
pub use encode_error::EncodeError;
#[cfg(feature = "cuda")]
pub(crate) use encode_error::without_backtrace;
pub use interface::{Attributes, Encoder, PendingScores, Scores};
