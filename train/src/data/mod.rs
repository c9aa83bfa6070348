//! Labelled positions: read in any format, packed into one file, sampled in batches.

pub(crate) mod batches;
pub mod command;
pub mod dataset;
pub mod family;
pub(crate) mod file;
pub(crate) mod pack;
pub(crate) mod packed;
pub(crate) mod read;
pub(crate) mod sampler;

pub use file::DatasetFile;
pub use packed::{Label, PackedPosition};
