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
mod talk;
mod uci_engine;
mod walk;

pub use options::{LabelOptions, WalkKind};
pub use parts::label;
pub use shard::Shard;
pub use talk::Talk;
