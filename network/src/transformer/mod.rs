//! The paper's encoder (section 3.2): a post-norm transformer over 77 tokens and a CLS token,
//! projected and scaled to unit length.
//!
//! Layers are PyTorch's `nn.TransformerEncoderLayer` in its default form. Parameters have the names
//! of the authors' published code, so that a checkpoint converts key by key.

mod config;
mod network;

pub use config::{LENGTH, TransformerConfig};
pub use network::{Dropout, Trace, Transformer, sequences_of, token_ids};
