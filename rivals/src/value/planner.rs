//! The planner of the value network.

use anyhow::{Context, Result};
use azimuth::search::Planner;
use cozy_chess::{Board, Move};

use super::model::ValueNetwork;
use crate::alpha_beta::{AlphaBeta, Evaluates, Evaluation, NETWORK_AT_ONCE};
use crate::play::Play;
use crate::weights::RivalWeights;

/// The planner that plays with these weights.
pub fn planner(weights: &RivalWeights, play: &Play) -> Result<Box<dyn Planner>> {
    let network = ValueNetwork::new(weights.config()?, &weights.parameters(&play.device)?)?;
    Ok(Box::new(AlphaBeta::new(Evaluation(network), depth, play.remembered)))
}

/// Default depth in plies. It increases as pieces leave the board, because wins in endgames need a
/// deeper search. The document says that the depth depends on the number of pieces, but not how.
fn depth(board: &Board) -> u32 {
    match board.occupied().len() {
        0..=5 => 5,
        6..=12 => 4,
        13..=22 => 3,
        _ => 2,
    }
}

impl Evaluates for ValueNetwork {
    fn at_once(&self) -> usize {
        NETWORK_AT_ONCE
    }

    fn evaluate_children(&mut self, _: &Board, children: &[(Move, Board)]) -> Result<Vec<f32>> {
        Ok(self.values(children.iter().map(|(_, board)| board))?.to_vec1()?)
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let values = self.values([board].into_iter())?.to_vec1()?;
        values.first().copied().context("the network says nothing")
    }
}
