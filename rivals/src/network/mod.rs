//! Layers that several networks share.

#[cfg(test)]
mod agreement;
mod board_convolution;
mod heads;
mod layers;

#[cfg(test)]
pub use agreement::assert_agree;
pub use board_convolution::{BoardConvolution, board_convolution};
pub use board_convolution::{ResidualTower, TowerConfig};
pub use heads::LegalMoves;
pub use heads::{PolicyHead, ValueHead};
pub use layers::LayerNorm;
pub use layers::attention;
pub use layers::clipped_relu;
pub use layers::{Linear, linear};
