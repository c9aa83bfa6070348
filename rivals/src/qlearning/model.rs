//! The network: three convolutions with batch norm, then dense layers over their planes and the
//! numbers of the board and the move. The planes are the same for all moves of a board, so they are
//! computed once. The network does not learn to distinguish moves from a move's two numbers alone.
//! With `squares`, the dense layer also gets the convolutions' outputs on the move's two squares.

use azimuth_chess::position::{Position, legal_moves};
use candle_core::{D, Module, ModuleT, Result, Tensor};
use candle_nn::{BatchNorm, BatchNormConfig, VarBuilder, batch_norm};
use cozy_chess::{Board, Move, Square};
use serde::{Deserialize, Serialize};

use super::encoding::{ACTION, PLANES, STATE, actions, states};
use super::reward::{repetition, reward};
use crate::network::{BoardConvolution, Linear, board_convolution, linear};

/// Sizes of the network.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QConfig {
    /// Channels of the three convolutions.
    pub channels: [usize; 3],
    /// Neurons of the dense layer.
    pub hidden: usize,
    /// Whether the dense layer gets the convolutions' outputs on the squares of a move.
    pub squares: bool,
    /// Whether the inputs include the squares that each side attacks.
    #[serde(default)]
    pub attacks: bool,
    /// Whether the network predicts only what follows a move, and the move's reward is added.
    #[serde(default)]
    pub rewards: bool,
}

/// Maps positions and moves to values.
pub struct QNetwork {
    blocks: Vec<(BoardConvolution, BatchNorm)>,
    /// The part of the dense layer that is the same for all moves of a board.
    of_board: Linear,
    of_action: candle_nn::Linear,
    squares: bool,
    attacks: bool,
    rewards: bool,
    value: Linear,
}

impl QNetwork {
    /// A network with the parameters `block.N`, `of_board`, `of_action` (both of one dense layer)
    /// and `value`.
    pub fn new(config: QConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        let QConfig { channels, hidden, squares, attacks, rewards } = config;
        let inputs = std::iter::once(PLANES).chain(channels);
        let block = |(number, (inputs, outputs)): (usize, (usize, usize))| {
            let vb = vb.pp("block").pp(number);
            let norm = batch_norm(outputs, BatchNormConfig::default(), vb.pp("norm"))?;
            Ok((board_convolution(inputs, outputs, &vb.pp("convolution"))?, norm))
        };
        let dense = Square::NUM * channels[2] + STATE;
        let action = ACTION + if squares { 2 * channels[2] } else { 0 };
        Ok(Self {
            blocks: inputs.zip(channels).enumerate().map(block).collect::<Result<_>>()?,
            of_board: linear(dense, hidden, &vb.pp("of_board"))?,
            of_action: candle_nn::linear_no_bias(action, hidden, vb.pp("of_action"))?,
            squares,
            attacks,
            rewards,
            value: linear(hidden, 1, &vb.pp("value"))?,
        })
    }

    /// The values of `moves` for the side that moves, in their order. Each move has the index of
    /// its board in `boards`. With `train`, batch norm uses the statistics of the batch.
    pub fn values(
        &self,
        boards: &[&Board],
        moves: &[(usize, Move)],
        train: bool,
    ) -> Result<Tensor> {
        let device = self.value.weight().device();
        let [mut planes, numbers] = states(boards.iter().copied(), self.attacks, device)?;
        for (convolution, norm) in &self.blocks {
            planes = convolution.forward(&planes)?;
            let (count, squares, channels) = planes.dims3()?;
            let rows = norm.forward_t(&planes.reshape((count * squares, channels))?, train)?;
            planes = rows.relu()?.reshape((count, squares, channels))?;
        }
        let board = Tensor::cat(&[planes.flatten_from(1)?, numbers], 1)?;
        let board = self.of_board.forward(&board)?;
        let numbers = |number: fn(&(usize, Move)) -> usize| {
            let numbers = moves.iter().map(|mv| number(mv) as u32).collect();
            Tensor::from_vec(numbers, moves.len(), device)
        };
        let mut action = actions(moves.iter().map(|&(_, mv)| mv), device)?;
        if self.squares {
            let rows = planes.flatten_to(1)?;
            let from = numbers(|(place, mv)| place * Square::NUM + mv.from as usize)?;
            let to = numbers(|(place, mv)| place * Square::NUM + mv.to as usize)?;
            let [from, to] = [rows.index_select(&from, 0)?, rows.index_select(&to, 0)?];
            action = Tensor::cat(&[action, from, to], 1)?;
        }
        let board = board.index_select(&numbers(|(place, _)| *place)?, 0)?;
        let hidden = (board + self.of_action.forward(&action)?)?.relu()?;
        let values = self.value.forward(&hidden)?.squeeze(D::Minus1)?;
        if !self.rewards {
            return Ok(values);
        }
        let rewards = moves.iter().map(|&(place, mv)| reward(boards[place], mv));
        values + Tensor::from_iter(rewards, device)?
    }

    /// The values of all legal moves of each position. If the network adds the rewards of moves,
    /// this also adds the reward for repeating a position.
    pub fn values_of(&self, positions: &[&Position]) -> Result<Vec<Vec<(Move, f32)>>> {
        let boards: Vec<_> = positions.iter().map(|position| position.board()).collect();
        let mut values = self.legal_values(&boards)?;
        if self.rewards {
            for (position, values) in positions.iter().zip(&mut values) {
                values.iter_mut().for_each(|(mv, value)| *value += repetition(position, *mv));
            }
        }
        Ok(values)
    }

    /// The values of all legal moves of each board.
    pub fn legal_values(&self, boards: &[&Board]) -> Result<Vec<Vec<(Move, f32)>>> {
        let legal: Vec<Vec<Move>> = boards.iter().map(|board| legal_moves(board)).collect();
        let all = legal.iter().enumerate();
        let all: Vec<_> =
            all.flat_map(|(place, moves)| moves.iter().map(move |&mv| (place, mv))).collect();
        if all.is_empty() {
            return Ok(legal.iter().map(|_| Vec::new()).collect());
        }
        let mut values = self.values(boards, &all, false)?.to_vec1::<f32>()?.into_iter();
        let of = |moves: Vec<Move>| moves.into_iter().zip(values.by_ref()).collect();
        Ok(legal.into_iter().map(of).collect())
    }
}

/// The move with the largest value; `None` if there are no moves.
pub fn largest(values: &[(Move, f32)]) -> Option<(Move, f32)> {
    values.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best })
}
