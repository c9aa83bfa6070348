//! Play: the legal move with the largest value, without search.

use anyhow::{Context, Result};
use azimuth::search::{Planner, Value};
use azimuth_chess::position::Position;
use candle_core::Device;
use cozy_chess::Move;

use super::model::{QNetwork, largest};
use crate::move_ranking::{MoveRanking, Ranking, RanksMoves};
use crate::weights::RivalWeights;

/// The planner that plays with these weights on a device.
pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = QNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MoveRanking(network)))
}

impl RanksMoves for QNetwork {
    fn rank(&mut self, root: &Position, moves: &[Move]) -> Result<Ranking> {
        let mut values = self.values_of(&[root])?.pop().unwrap_or_default();
        let nodes = values.len() as u64;
        values.retain(|(mv, _)| moves.contains(mv));
        values.sort_by(|a, b| b.1.total_cmp(&a.1));
        let moves = values.into_iter().map(|(mv, value)| (mv, Value::estimate(value))).collect();
        Ok(Ranking { moves, nodes })
    }

    fn value(&mut self, position: &Position) -> Result<Value> {
        let values = self.values_of(&[position])?;
        let best = values.first().and_then(|values| largest(values)).context("no legal move")?;
        Ok(Value::estimate(best.1))
    }
}
