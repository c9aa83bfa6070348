//! Play: the most probable legal move, without search.

use anyhow::Result;
use azimuth::search::{Planner, Value};
use azimuth_chess::position::Position;
use candle_core::Device;
use cozy_chess::Move;

use super::model::PolicyNetwork;
use crate::move_ranking::{MoveRanking, Ranking, RanksMoves};
use crate::network::LegalMoves;
use crate::weights::RivalWeights;

/// The planner that plays with these weights on a device.
pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = PolicyNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MoveRanking(network)))
}

impl RanksMoves for PolicyNetwork {
    fn rank(&mut self, root: &Position, moves: &[Move]) -> Result<Ranking> {
        let board = root.board();
        let logits = self.logits([board].into_iter())?;
        let legal = LegalMoves::new(&[board], self.oriented(), logits.device())?;
        let mut probable = legal.probabilities(&logits)?.concat();
        probable.retain(|(mv, _)| moves.contains(mv));
        probable.sort_by(|a, b| b.1.total_cmp(&a.1));
        // The network predicts a move and no value.
        let moves = probable.into_iter().map(|(mv, _)| (mv, Value::DRAW)).collect();
        Ok(Ranking { moves, nodes: 1 })
    }
}
