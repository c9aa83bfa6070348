//! A Stockfish network in place of the engine's encoder.

use anyhow::Result;
use azimuth::inference::{Evaluate, EvaluateAttributes};
use azimuth_chess::placement::Placement;
use azimuth_chess::win_probability::win_probability_of_centipawns;
use cozy_chess::Board;

use super::network::StockfishNetwork;

/// Evaluates positions by a network, one after another.
pub struct NetworkEvaluate {
    network: StockfishNetwork,
    values: Vec<f32>,
}

impl NetworkEvaluate {
    /// An evaluator that uses `network`.
    pub fn new(network: StockfishNetwork) -> Self {
        Self { network, values: Vec::new() }
    }
}

impl Evaluate for NetworkEvaluate {
    fn attributes(&self) -> EvaluateAttributes {
        EvaluateAttributes { immediate: true, recommended_batch: 1 }
    }

    fn key(&self, board: &Board) -> u64 {
        board.hash_without_ep()
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let centipawns = self.network.evaluate(&Placement::of(board));
        Ok(2.0 * win_probability_of_centipawns(centipawns.into()) as f32 - 1.0)
    }

    fn enqueue(&mut self, board: &Board) -> Result<()> {
        let value = self.evaluate(board)?;
        self.values.push(value);
        Ok(())
    }

    fn collect(&mut self) -> Result<Vec<f32>> {
        Ok(std::mem::take(&mut self.values))
    }
}
