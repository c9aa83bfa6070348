//! Layers that several networks share.

#[cfg(test)]
mod agreement;
mod board_convolution;
mod heads;
mod layers;

pub use board_convolution::{BoardConvolution, ResidualTower, TowerConfig, board_convolution};
pub use heads::{LegalMoves, ValueHead, policy_head};
pub use layers::{LayerNorm, Linear, attention, clipped_relu, linear};

#[cfg(test)]
pub use agreement::assert_agree;
