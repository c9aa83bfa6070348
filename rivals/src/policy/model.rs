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
}

impl PolicyNetwork {
    /// A network with the parameters `tower` and `policy`.
    pub fn new(config: TowerConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        Ok(Self {
            tower: ResidualTower::new(PLANES, config, &vb.pp("tower"))?,
            policy: PolicyHead::new(config.channels, vb.pp("policy"))?,
        })
    }

    /// Logits of all moves, boards x 4672.
    pub fn logits<'a>(&self, boards: impl ExactSizeIterator<Item = &'a Board>) -> Result<Tensor> {
        self.policy.forward(&self.tower.forward(&planes(boards, self.tower.device())?)?)
    }
}
