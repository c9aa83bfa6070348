//! Looking into a trained space and into the runs that made it: embeddings for a notebook, the nearest positions of
//! data, curves of training.

mod curves;
mod embed;
mod map;
mod neighbours;
mod positions;

pub use curves::PlotOptions;
pub use embed::EmbedOptions;
pub use map::MapOptions;
pub use neighbours::NeighboursOptions;
