//! Labelling by a UCI engine or a network, which also scores alternative moves.

mod endings;
mod labeller;
mod options;
mod parts;
mod uci_engine;
mod walk;

pub use options::{DEPTH, LabelOptions, WalkKind};
pub use parts::Shard;
pub use parts::{Starts, each_start};
pub use parts::{label, label_from};
pub use uci_engine::Talk;
pub use uci_engine::warn_of_noise;
