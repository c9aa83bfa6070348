//! Positions to unit vectors: the encoders behind one interface, one folder per architecture.

mod architecture;
mod device_error;
pub mod fused;
mod inputs;
mod interface;
mod normalize;
pub mod parameters;
pub mod sparse;
mod tensor_slices;
pub mod transformer;

pub use architecture::{Architecture, Perspective};
pub use device_error::OutOfMemory;
#[cfg(feature = "cuda")]
pub(crate) use device_error::without_backtrace;
pub use inputs::{InputKind, Inputs};
pub use interface::{Attributes, Encoder, PendingScores, Scores};
