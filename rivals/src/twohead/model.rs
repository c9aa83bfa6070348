//! The two-headed network, and the planner that plays with it.

use anyhow::Result;
use azimuth_chess::position::Position;
use azimuth_search::Planner;
use candle_core::{Device, Module, Tensor};
use candle_nn::VarBuilder;
use cozy_chess::{Board, Color};

use crate::board::{PLANES, planes, signs};
use crate::monte_carlo::{Assessment, MonteCarlo, PolicyValue};
use crate::network::{LegalMoves, Linear, ResidualTower, TowerConfig, ValueHead, policy_head};
use crate::weights::RivalWeights;

/// Maps positions to logits of moves and values.
pub struct TwoHeadNetwork {
    tower: ResidualTower,
    policy: Linear,
    value: ValueHead,
    oriented: bool,
}

impl TwoHeadNetwork {
    /// A network with the parameters `tower`, `policy` and `value`.
    pub fn new(config: TowerConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        Ok(Self {
            tower: ResidualTower::new(PLANES, config, &vb.pp("tower"))?,
            policy: policy_head(config.channels, &vb.pp("policy"))?,
            value: ValueHead::new(config.channels, &vb.pp("value"))?,
            oriented: config.oriented,
        })
    }

    /// Whether the moves are those that the side to move sees.
    pub fn oriented(&self) -> bool {
        self.oriented
    }

    /// Logits of all moves (boards x 4672), and the value of each board for White, in [-1, 1].
    pub fn forward<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board> + Clone,
    ) -> candle_core::Result<[Tensor; 2]> {
        let device = self.tower.device();
        let signs = signs(boards.clone(), self.oriented, device)?;
        let boards = self.tower.forward(&planes(boards, self.oriented, device)?)?;
        let logits = self.policy.forward(&boards)?.flatten_from(1)?;
        Ok([logits, (self.value.forward(&boards)? * signs)?])
    }
}

impl PolicyValue for TwoHeadNetwork {
    fn assess(&self, positions: &[&Position]) -> Result<Vec<Assessment>> {
        let boards: Vec<&Board> = positions.iter().map(|position| position.board()).collect();
        let [logits, values] = self.forward(boards.iter().copied())?;
        let policies = LegalMoves::new(&boards, self.oriented, logits.device())?;
        let policies = policies.probabilities(&logits)?;
        let assessment = |((board, policy), of_white): ((&&Board, _), f32)| {
            let own = board.side_to_move() == Color::White;
            Assessment { policy, value: if own { of_white } else { -of_white } }
        };
        let values = values.to_vec1::<f32>()?;
        Ok(boards.iter().zip(policies).zip(values).map(assessment).collect())
    }
}

/// The planner that plays with these weights on a device.
pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = TwoHeadNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MonteCarlo(network)))
}
