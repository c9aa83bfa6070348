//! The sparse encoder, the default on CPUs: summed embeddings of attack-aware features seen from
//! both sides, then a small MLP, then unit length. [`features`] are its inputs.

mod config;
pub mod features;
mod head_layers;
mod network;

pub use config::{HIDDEN, MAX_PIECES, SparseConfig};
pub use network::SparseNetwork;
