//! The sparse encoder, the default on CPUs: summed embeddings of attack-aware features seen from
//! both sides, then a small MLP, then unit length. See [`features`] for its inputs.
//!
//! [`SparseNetwork`] is its definition and what training runs; [`integer`] is what plays.

mod accumulator;
pub mod bag;
mod config;
pub mod features;
pub mod integer;
mod kernels;
mod network;

pub use config::{HIDDEN, SparseConfig};
pub use network::SparseNetwork;
