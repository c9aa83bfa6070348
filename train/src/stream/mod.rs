//! Training without end on a stream of new positions: each is labelled while earlier ones are
//! trained on, and is used once (or `--passes` times). Branches turn the stream's state into
//! weights.

mod branch;
mod endless;
mod folder;
mod options;
mod place;
mod recipes;
mod rounds;
mod training;

pub use branch::branch;
pub use endless::stream;
pub use options::{BranchOptions, StreamOptions};
