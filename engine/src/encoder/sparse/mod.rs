//! The sparse encoder, the default on CPUs: summed embeddings of attack-aware features seen from
//! both sides, then a small MLP, then unit length. See [`features`] for its inputs.
//!
//! [`SparseNetwork`] is its definition and what training runs; [`quantised`] is what plays.

mod accumulator;
mod config;
pub mod device_sums;
mod direction;
pub mod embedding_bag;
pub mod features;
mod head_layers;
mod kernels;
mod middle_layer;
mod network;
pub mod quantised;
mod unit_order;

pub use config::{HIDDEN, SparseConfig};
pub use network::SparseNetwork;
