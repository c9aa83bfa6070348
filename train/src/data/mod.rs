//! Labelled positions: read in any format, packed into one file, sampled in batches.

pub(crate) mod batches;
mod by_label;
pub mod command;
pub mod dataset;
pub mod datasets;
mod duplicates;
mod export;
pub mod family;
pub(crate) mod file;
mod filter;
pub(crate) mod inputs;
pub mod label;
pub(crate) mod labelled_positions;
pub(crate) mod mix;
mod pack;
pub(crate) mod packed;
pub(crate) mod packer;
mod permutation;
pub(crate) mod read;
pub(crate) mod sampler;
pub mod split;
pub(crate) mod training_positions;

pub use file::dataset_file::DatasetFile;
pub use packed::PackedPosition;
