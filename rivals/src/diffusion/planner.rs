//! Play: the first action of a sampled sequence.

use anyhow::Result;
use azimuth::search::{Planner, Value};
use azimuth_chess::position::Position;
use candle_core::Device;
use cozy_chess::Move;

use super::model::DiffusionNetwork;
use crate::move_ranking::{MoveRanking, Ranking, RanksMoves};
use crate::weights::RivalWeights;

/// The planner that plays with these weights on a device.
pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = DiffusionNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MoveRanking(network)))
}

impl RanksMoves for DiffusionNetwork {
    fn rank(&mut self, root: &Position, moves: &[Move]) -> Result<Ranking> {
        let moves = self.sample(root.board(), moves)?;
        // The network predicts a move and no value.
        let moves = moves.into_iter().map(|mv| (mv, Value::DRAW)).collect();
        Ok(Ranking { moves, nodes: self.config().timesteps as u64 })
    }
}
