//! Labels from a UCI engine, with a score for the moves among which it chose.

mod endings;
mod labeller;
mod leaves;
mod options;
mod parts;
mod shard;
mod sources;
mod walk;

pub use options::LabelOptions;
pub use parts::label;
