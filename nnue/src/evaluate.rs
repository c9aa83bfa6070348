//! A Stockfish network in place of the engine's encoder.

use anyhow::Result;
use azimuth_chess::placement::Placement;
use azimuth_chess::win_probability::win_probability_of_centipawns;
use azimuth_search::inference::{EvaluateOne, PositionKey};
use cozy_chess::Board;

use super::network::StockfishNetwork;

impl EvaluateOne for StockfishNetwork {
    fn key(&self) -> PositionKey {
        PositionKey::WithoutEnPassant
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let centipawns = self.centipawns(&Placement::of(board));
        Ok(2.0 * win_probability_of_centipawns(centipawns.into()) as f32 - 1.0)
    }
}
