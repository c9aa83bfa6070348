//! Training without end on a stream of new positions: each is labelled while earlier ones are
//! trained on, and is used once (or `--passes` times). Branches turn the stream's state into
//! weights.

mod folder;
mod options;
mod rounds;
mod training;

pub use options::{BranchOptions, StreamOptions};
pub use training::{branch, stream};
