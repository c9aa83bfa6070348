//! Play: alpha-beta that compares codes with the network, or uses its scores.

use std::cmp::Ordering;

use anyhow::{Context, Result};
use azimuth::search::Planner;
use candle_core::{D, Tensor};
use candle_nn::ops::softmax;
use cozy_chess::{Board, Move};

use super::model::{DeepChessConfig, DeepChessNetwork};
use crate::alpha_beta::{AlphaBeta, DEFAULT_DEPTH, Evaluates, Evaluation, Judge, NETWORK_AT_ONCE};
use crate::play::Play;
use crate::weights::RivalWeights;

/// The planner that plays with these weights.
pub fn planner(weights: &RivalWeights, play: &Play) -> Result<Box<dyn Planner>> {
    let config: DeepChessConfig = weights.config()?;
    let network = DeepChessNetwork::new(&config, &weights.parameters(&play.device)?)?;
    if config.score {
        let evaluation = Evaluation(Estimator(network));
        return Ok(Box::new(AlphaBeta::new(evaluation, |_| DEFAULT_DEPTH, play.remembered)));
    }
    let even = network.codes([&Board::startpos()].into_iter())?;
    Ok(Box::new(AlphaBeta::new(
        DeepChessJudge { network, even },
        |_| DEFAULT_DEPTH,
        play.remembered,
    )))
}

/// The network that scores the next position, given the current one.
struct Estimator(DeepChessNetwork);

impl Evaluates for Estimator {
    fn at_once(&self) -> usize {
        NETWORK_AT_ONCE
    }

    fn evaluate_children(
        &mut self,
        parent: &Board,
        children: &[(Move, Board)],
    ) -> Result<Vec<f32>> {
        let next = self.0.codes(children.iter().map(|(_, board)| board))?;
        let current = self.0.codes([parent].into_iter())?.broadcast_as(next.shape())?;
        Ok(self.0.scores(&current, &next)?.to_vec1()?)
    }

    /// Takes `board` as both the current and the next position, because it has no predecessor.
    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let code = self.0.codes([board].into_iter())?;
        let scores = self.0.scores(&code, &code)?.to_vec1()?;
        scores.first().copied().context("the network says nothing")
    }
}

struct DeepChessJudge {
    network: DeepChessNetwork,
    /// The code of the starting position. It replaces a draw, because the network has no absolute
    /// scale.
    even: Tensor,
}

impl DeepChessJudge {
    /// The probability that the first position is better for White, averaged over both orders of
    /// the pair.
    fn probability(&self, first: &Tensor, second: &Tensor) -> Result<f32> {
        let [one, other] = [[first, second], [second, first]].map(|pair| Tensor::cat(&pair, 0));
        let logits = self.network.compare(&one?, &other?)?;
        let chances = softmax(&logits, D::Minus1)?.to_vec2::<f32>()?;
        Ok((chances[0][0] + chances[1][1]) / 2.0)
    }
}

impl Judge for DeepChessJudge {
    /// A code, 1 x the code's length (100 by default).
    type Leaf = Tensor;

    fn at_once(&self) -> usize {
        NETWORK_AT_ONCE
    }

    fn leaves(&mut self, _parent: &Board, children: &[(Move, Board)]) -> Result<Vec<Tensor>> {
        let codes = self.network.codes(children.iter().map(|(_, board)| board))?;
        (0..children.len()).map(|place| Ok(codes.narrow(0, place, 1)?)).collect()
    }

    fn leaf(&mut self, board: &Board) -> Result<Tensor> {
        Ok(self.network.codes([board].into_iter())?)
    }

    fn compare(&mut self, a: &Tensor, b: &Tensor) -> Result<Ordering> {
        Ok(self.probability(a, b)?.total_cmp(&0.5))
    }

    fn compare_with_draw(&mut self, leaf: &Tensor) -> Result<Ordering> {
        Ok(self.probability(leaf, &self.even)?.total_cmp(&0.5))
    }

    fn value(&mut self, leaf: &Tensor) -> Result<f32> {
        Ok(2.0 * self.probability(leaf, &self.even)? - 1.0)
    }
}
