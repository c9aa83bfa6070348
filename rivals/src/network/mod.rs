//! Layers that several networks share.

mod attention;
mod board_convolution;
mod heads;
mod residual_tower;

pub use attention::attention;
pub use board_convolution::{BoardConvolution, board_convolution};
pub use heads::{PolicyHead, ValueHead};
pub use residual_tower::{ResidualTower, TowerConfig};
