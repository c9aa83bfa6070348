//! Layers that several networks share.

#[cfg(test)]
mod agreement;
mod attention;
mod board_convolution;
mod clipped_relu;
mod heads;
mod layer_norm;
mod legal_moves;
mod linear;
mod residual_tower;

#[cfg(test)]
pub use agreement::assert_agree;
pub use attention::attention;
pub use board_convolution::{BoardConvolution, board_convolution};
pub use clipped_relu::clipped_relu;
pub use heads::{PolicyHead, ValueHead};
pub use layer_norm::LayerNorm;
pub use legal_moves::LegalMoves;
pub use linear::{Linear, linear};
pub use residual_tower::{ResidualTower, TowerConfig};
