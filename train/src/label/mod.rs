//! Labelling by a UCI engine or a network, which also scores alternative moves.

mod endings;
mod labeller;
mod options;
mod parts;
mod uci_engine;
mod walk;

pub use options::{DEPTH, LabelOptions, Shard, WalkKind};
pub use parts::{Starts, Talk, label, label_from};
pub use uci_engine::warn_of_noise;
