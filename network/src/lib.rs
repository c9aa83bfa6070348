//! Networks that map chess positions to unit vectors, with their gradients, and the weights files
//! that store them.
//!
//! [`Inputs`] are batches of positions. [`transformer`] and [`sparse`] are the two architectures,
//! over candle tensors. [`fused`] contains the operations that candle lacks, for the CPU and for
//! CUDA, and [`embedding_bag`] the first layer of sparse networks.
//!
//! [`axis`] and [`calibration`] convert an embedding to a win probability. [`weights`] reads and
//! writes all of them as one file. The engine plays with its own integer version of the sparse
//! network.

mod architecture;
pub mod axis;
pub mod calibration;
pub mod checksum;
pub mod embedding_bag;
pub mod fused;
pub mod normalize;
pub mod parameters;
pub mod policy;
pub mod replace_file;
pub mod sparse;
pub mod tensor_slices;
pub mod transformer;
pub mod weights;

pub use architecture::{Architecture, InputKind, Inputs, Perspective};
