//! Labelling by a UCI engine or a network, which also scores alternative moves.

mod endings;
mod labeller;
mod options;
mod parts;
mod uci_engine;
mod walk;

pub use options::LabelOptions;
pub use parts::label;
