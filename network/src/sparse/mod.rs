//! The sparse encoder, the default on CPUs: sums of feature rows from the views of both sides, a
//! small MLP, and scaling to unit length. [`features`] are its inputs.

pub mod features;
mod head_layers;
mod network;

pub use network::{ACCUMULATOR_BLOCK, HIDDEN, MAX_PIECES, SparseConfig, SparseNetwork};
