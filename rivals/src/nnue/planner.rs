//! The planner of the NNUE.

use anyhow::Result;
use azimuth::search::Planner;
use cozy_chess::{Board, Move};

use super::accumulators::Accumulators;
use super::quantised::QuantisedNnue;
use crate::alpha_beta::{AlphaBeta, DEFAULT_DEPTH, Evaluates, Evaluation};
use crate::play::Play;
use crate::weights::RivalWeights;

/// The planner that plays with these weights.
pub fn planner(weights: &RivalWeights, play: &Play) -> Result<Box<dyn Planner>> {
    let nnue = Nnue { network: QuantisedNnue::new(weights)?, line: Vec::new() };
    Ok(Box::new(AlphaBeta::new(Evaluation(nnue), |_| DEFAULT_DEPTH, play.remembered)))
}

struct Nnue {
    network: QuantisedNnue,
    /// The sums of the positions from the root to the current node.
    line: Vec<Accumulators>,
}

impl Evaluates for Nnue {
    fn enter(&mut self, from: Option<&Board>, board: &Board) {
        let sums = match (from, self.line.last()) {
            (Some(before), Some(sums)) => sums.after(before, board, &self.network),
            _ => Accumulators::of(board, &self.network),
        };
        self.line.push(sums);
    }

    fn leave(&mut self) {
        self.line.pop();
    }

    fn evaluate_children(
        &mut self,
        parent: &Board,
        children: &[(Move, Board)],
    ) -> Result<Vec<f32>> {
        let fresh;
        let of_parent = match self.line.last() {
            Some(sums) => sums,
            None => {
                fresh = Accumulators::of(parent, &self.network);
                &fresh
            }
        };
        let value = |(_, board): &(Move, Board)| {
            let sums = of_parent.after(parent, board, &self.network);
            2.0 * sums.win_probability(board, &self.network) - 1.0
        };
        Ok(children.iter().map(value).collect())
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let sums = Accumulators::of(board, &self.network);
        Ok(2.0 * sums.win_probability(board, &self.network) - 1.0)
    }
}
