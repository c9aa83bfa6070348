//! Labelled positions: read in any format, packed into one file, drawn in batches.

pub mod batches;
mod by_label;
pub mod command;
pub mod dataset;
pub mod datasets;
mod duplicates;
mod export;
pub mod family;
pub mod file;
mod filter;
pub mod inputs;
pub mod label;
pub mod labelled_positions;
pub mod mix;
mod pack;
pub mod packed;
pub mod packer;
mod permutation;
pub mod read;
pub mod sampler;
pub mod split;
pub mod training_positions;
