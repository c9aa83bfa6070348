//! The networks of DeepChess, the bits that they take, and the planners that play with them.

use std::cmp::Ordering;
use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth_search::Planner;
use candle_core::{D, Device, Module, Tensor};
use candle_nn::VarBuilder;
use candle_nn::ops::softmax;
use cozy_chess::{Board, Color, Move, Piece, Square};
use serde::{Deserialize, Serialize};

use crate::alpha_beta::{AlphaBeta, DEFAULT_DEPTH, Judge, Leaf, NETWORK_AT_ONCE};
use crate::network::{Linear, linear};
use crate::play::Play;
use crate::weights::RivalWeights;

/// Layer sizes of the networks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeepChessConfig {
    /// Neurons of each encoder layer after the 773 inputs. The output of the last layer is the
    /// code.
    pub encoder: Vec<usize>,
    /// Neurons of each hidden layer of the comparator, between the two codes and its outputs.
    pub comparator: Vec<usize>,
    /// Whether the comparator takes the current and the next position and gives a score, as the
    /// document draws it. If not, it takes any two positions and predicts which one is better.
    #[serde(default)]
    pub score: bool,
}

/// The encoder and the comparator.
pub struct DeepChessNetwork {
    encoder: Vec<Linear>,
    comparator: Vec<Linear>,
    device: Device,
}

impl DeepChessNetwork {
    /// Networks with the parameters `encoder.N` and `comparator.N`.
    pub fn new(config: &DeepChessConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        let code = config.encoder.last().copied().unwrap_or(BITS);
        let outputs = if config.score { 1 } else { 2 };
        let comparator = config.comparator.iter().copied().chain([outputs]);
        Ok(Self {
            encoder: stack(BITS, config.encoder.iter().copied(), &vb.pp("encoder"))?,
            comparator: stack(2 * code, comparator, &vb.pp("comparator"))?,
            device: vb.device().clone(),
        })
    }

    /// Number of encoder layers.
    pub fn depth(&self) -> usize {
        self.encoder.len()
    }

    /// The output of the first `layers` encoder layers on boards.
    pub fn encode<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board>,
        layers: usize,
    ) -> candle_core::Result<Tensor> {
        let layers = self.encoder[..layers].iter();
        layers.fold(bits(boards, &self.device), |hidden, layer| layer.forward(&hidden?)?.relu())
    }

    /// The output of one encoder layer on the output of the layer before it.
    pub fn layer(&self, layer: usize, hidden: &Tensor) -> candle_core::Result<Tensor> {
        self.encoder[layer].forward(hidden)?.relu()
    }

    /// The codes of boards.
    pub fn codes<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board>,
    ) -> candle_core::Result<Tensor> {
        self.encode(boards, self.encoder.len())
    }

    /// The values for White, in [-1, 1], of the positions with the codes `next` (pairs x code).
    /// Each follows by a move from the position with the code in the same row of `current`.
    pub fn scores(&self, current: &Tensor, next: &Tensor) -> candle_core::Result<Tensor> {
        self.compare(current, next)?.squeeze(D::Minus1)?.tanh()
    }

    /// Logits (pairs x 2) that the first and that the second position is better for White; in a
    /// network that scores positions, its output (pairs x 1).
    pub fn compare(&self, first: &Tensor, second: &Tensor) -> candle_core::Result<Tensor> {
        let mut hidden = Tensor::cat(&[first, second], D::Minus1)?;
        for (place, layer) in self.comparator.iter().enumerate() {
            hidden = layer.forward(&hidden)?;
            if place + 1 < self.comparator.len() {
                hidden = hidden.relu()?;
            }
        }
        Ok(hidden)
    }
}

/// Layers with the given numbers of neurons. The parameters of each are named by its index.
fn stack(
    inputs: usize,
    neurons: impl Iterator<Item = usize>,
    vb: &VarBuilder<'_>,
) -> candle_core::Result<Vec<Linear>> {
    let mut before = inputs;
    let layer =
        |(place, after)| linear(std::mem::replace(&mut before, after), after, &vb.pp(place));
    neurons.enumerate().map(layer).collect()
}

/// Number of bits of a position.
pub const BITS: usize = 12 * Square::NUM + 1 + 4;

/// The bits of boards on a device (boards x 773). The order is: White's pawns on a1, b1, ... h8,
/// then its knights, bishops, rooks, queens and king; the same for Black; 1 if White is to move;
/// White's short and long castling rights, then Black's.
pub fn bits<'a>(
    boards: impl ExactSizeIterator<Item = &'a Board>,
    device: &Device,
) -> candle_core::Result<Tensor> {
    let count = boards.len();
    let mut bits = vec![0f32; count * BITS];
    for (board, bits) in boards.zip(bits.chunks_exact_mut(BITS)) {
        for color in [Color::White, Color::Black] {
            for piece in Piece::ALL {
                let plane = (color as usize * Piece::NUM + piece as usize) * Square::NUM;
                for square in board.colored_pieces(color, piece) {
                    bits[plane + square as usize] = 1.0;
                }
            }
        }
        let [white, black] = [Color::White, Color::Black].map(|color| board.castle_rights(color));
        let state = [
            board.side_to_move() == Color::White,
            white.short.is_some(),
            white.long.is_some(),
            black.short.is_some(),
            black.long.is_some(),
        ];
        for (bit, is_set) in bits[12 * Square::NUM..].iter_mut().zip(state) {
            *bit = f32::from(u8::from(is_set));
        }
    }
    Tensor::from_vec(bits, (count, BITS), device)
}

/// The planner that plays with these weights.
pub fn planner(weights: &RivalWeights, play: &Play) -> Result<Box<dyn Planner>> {
    let config: DeepChessConfig = weights.config()?;
    let network = DeepChessNetwork::new(&config, &weights.parameters(&play.device)?)?;
    if config.score {
        return Ok(Box::new(AlphaBeta::new(
            Estimator(network),
            |_| DEFAULT_DEPTH,
            play.remembered,
        )));
    }
    let even = network.codes([&Board::startpos()].into_iter())?;
    let judge = Siamese(Arc::new(Comparison { network, even }));
    Ok(Box::new(AlphaBeta::new(judge, |_| DEFAULT_DEPTH, play.remembered)))
}

/// The network that scores the next position, given the current one.
struct Estimator(DeepChessNetwork);

impl Judge for Estimator {
    type Leaf = f32;

    fn at_once(&self) -> usize {
        NETWORK_AT_ONCE
    }

    fn leaves(&mut self, parent: &Board, children: &[(Move, Board)]) -> Result<Vec<f32>> {
        let next = self.0.codes(children.iter().map(|(_, board)| board))?;
        let current = self.0.codes([parent].into_iter())?.broadcast_as(next.shape())?;
        Ok(self.0.scores(&current, &next)?.to_vec1()?)
    }

    /// Takes `board` as both the current and the next position, because it has no predecessor.
    fn leaf(&mut self, board: &Board) -> Result<f32> {
        let code = self.0.codes([board].into_iter())?;
        let scores = self.0.scores(&code, &code)?.to_vec1()?;
        scores.first().copied().context("the network says nothing")
    }
}

/// The network that compares two positions.
struct Comparison {
    network: DeepChessNetwork,
    /// The code of the starting position. It replaces a draw, because the network has no absolute
    /// scale.
    even: Tensor,
}

impl Comparison {
    /// The probability that the first position is better for White, averaged over both orders of
    /// the pair.
    fn probability(&self, first: &Tensor, second: &Tensor) -> Result<f32> {
        let [one, other] = [[first, second], [second, first]].map(|pair| Tensor::cat(&pair, 0));
        let logits = self.network.compare(&one?, &other?)?;
        let chances = softmax(&logits, D::Minus1)?.to_vec2::<f32>()?;
        Ok((chances[0][0] + chances[1][1]) / 2.0)
    }
}

/// The judge of a network that can only compare positions.
struct Siamese(Arc<Comparison>);

impl Judge for Siamese {
    type Leaf = Code;

    fn at_once(&self) -> usize {
        NETWORK_AT_ONCE
    }

    fn leaves(&mut self, _parent: &Board, children: &[(Move, Board)]) -> Result<Vec<Code>> {
        let codes = self.0.network.codes(children.iter().map(|(_, board)| board))?;
        (0..children.len())
            .map(|place| Ok(Code { code: codes.narrow(0, place, 1)?, by: self.0.clone() }))
            .collect()
    }

    fn leaf(&mut self, board: &Board) -> Result<Code> {
        Ok(Code { code: self.0.network.codes([board].into_iter())?, by: self.0.clone() })
    }
}

/// A position's code, 1 x the code's length (100 by default), and the network that compares it.
#[derive(Clone)]
struct Code {
    code: Tensor,
    by: Arc<Comparison>,
}

impl Code {
    fn probability(&self, other: &Tensor) -> Result<f32> {
        self.by.probability(&self.code, other)
    }
}

impl Leaf for Code {
    fn compare(&self, other: &Self) -> Result<Ordering> {
        Ok(self.probability(&other.code)?.total_cmp(&0.5))
    }

    fn compare_with_draw(&self) -> Result<Ordering> {
        Ok(self.probability(&self.by.even)?.total_cmp(&0.5))
    }

    fn value(&self) -> Result<f32> {
        Ok(2.0 * self.probability(&self.by.even)? - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_worked_out_by_hand() -> Result<()> {
        assert_eq!(BITS, 773);
        let board: Board = "4k3/8/8/8/8/8/1P6/R3K3 w Q - 0 1".parse().expect("valid");
        let bits = bits([&board].into_iter(), &Device::Cpu)?.to_vec2::<f32>()?.remove(0);
        let set: Vec<usize> = (0..BITS).filter(|&bit| bits[bit] == 1.0).collect();
        // b2 is square 9 of plane 0, a1 square 0 of plane 3, e1 square 4 of plane 5, e8 square 60
        // of plane 11.
        assert_eq!(set, [9, 3 * 64, 5 * 64 + 4, 11 * 64 + 60, 768, 770]);
        Ok(())
    }
}
