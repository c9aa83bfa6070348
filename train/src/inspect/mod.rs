//! Inspection of a trained space and of training runs: embeddings for a notebook, nearest
//! positions, training curves, maps.

mod curves;
mod map;
mod neighbours;
mod positions;

pub use curves::PlotOptions;
pub use map::MapOptions;
pub use neighbours::NeighboursOptions;
pub use positions::EmbedOptions;
