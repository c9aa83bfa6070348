//! Play: the most probable legal move, without search.

use anyhow::Result;
use azimuth::search::{Planner, Value};
use azimuth_chess::position::Position;
use candle_core::Device;
use cozy_chess::Move;

use super::model::PolicyNetwork;
use crate::board::{move_index, viewer};
use crate::move_ranking::{MoveRanking, Ranking, RanksMoves};
use crate::weights::RivalWeights;

/// The planner that plays with these weights on a device.
pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = PolicyNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MoveRanking(network)))
}

impl RanksMoves for PolicyNetwork {
    fn rank(&mut self, root: &Position, moves: &[Move]) -> Result<Ranking> {
        let board = root.board();
        let logits = self.logits([board].into_iter())?.squeeze(0)?.to_vec1::<f32>()?;
        let mut moves = moves.to_vec();
        let view = viewer(board, self.oriented());
        let logit = |mv: Move| logits[move_index(board, mv, view)];
        moves.sort_by(|&a, &b| logit(b).total_cmp(&logit(a)));
        // The network predicts a move and no value.
        let moves = moves.into_iter().map(|mv| (mv, Value::DRAW)).collect();
        Ok(Ranking { moves, nodes: 1 })
    }
}
