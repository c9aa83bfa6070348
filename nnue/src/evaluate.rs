//! A Stockfish network in place of the engine's encoder.

use anyhow::Result;
use azimuth::inference::EvaluateOne;
use azimuth_chess::placement::Placement;
use azimuth_chess::win_probability::win_probability_of_centipawns;
use cozy_chess::Board;

use super::network::StockfishNetwork;

impl EvaluateOne for StockfishNetwork {
    fn key(&self, board: &Board) -> u64 {
        board.hash_without_ep()
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let centipawns = self.centipawns(&Placement::of(board));
        Ok(2.0 * win_probability_of_centipawns(centipawns.into()) as f32 - 1.0)
    }
}
