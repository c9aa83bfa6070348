//! Labels from a UCI engine or a network, with a score for the moves among which it chose.

mod endings;
mod labeller;
mod leaves;
mod network;
mod options;
mod parts;
mod scored_move;
mod shard;
mod sources;
mod uci_engine;
mod walk;

pub use options::LabelOptions;
pub use parts::label;
