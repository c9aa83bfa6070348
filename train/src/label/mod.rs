//! Labelling by a UCI engine or a network, which also scores alternative moves.

mod endings;
mod labeller;
mod lead;
mod leaves;
mod network;
mod network_quiescence;
mod noise;
mod options;
mod parts;
mod scored_move;
mod shard;
mod sources;
mod talk;
mod uci_engine;
mod walk;

pub use noise::warn_of_noise;
pub use options::{DEPTH, LabelOptions, WalkKind};
pub use parts::{label, label_from};
pub use shard::Shard;
pub use sources::{Starts, each_start};
pub use talk::Talk;
