//! The policy network.

use candle_core::{Module, Result, Tensor};
use candle_nn::VarBuilder;
use cozy_chess::Board;

use crate::board::{PLANES, planes};
use crate::network::{PolicyHead, ResidualTower, TowerConfig};

/// Maps positions to logits of moves.
pub struct PolicyNetwork {
    tower: ResidualTower,
    policy: PolicyHead,
    oriented: bool,
}

impl PolicyNetwork {
    /// A network with the parameters `tower` and `policy`.
    pub fn new(config: TowerConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        Ok(Self {
            tower: ResidualTower::new(PLANES, config, &vb.pp("tower"))?,
            policy: PolicyHead::new(config.channels, &vb.pp("policy"))?,
            oriented: config.oriented,
        })
    }

    /// Whether the moves are those that the side to move sees.
    pub fn oriented(&self) -> bool {
        self.oriented
    }

    /// Logits of all moves, boards x 4672.
    pub fn logits<'a>(&self, boards: impl ExactSizeIterator<Item = &'a Board>) -> Result<Tensor> {
        self.policy.forward(&self.tower.forward(&planes(
            boards,
            self.oriented,
            self.tower.device(),
        )?)?)
    }
}
