//! The output heads of a tower: a distribution over moves, or the value of a position.

use candle_core::{Module, Result, Tensor};
use candle_nn::VarBuilder;
use cozy_chess::Square;

use super::linear::{Linear, linear};
use crate::board::MOVES;

/// Channels for each square in the value head.
const VALUE_CHANNELS: usize = 8;

/// Neurons of the value head's hidden layer.
const VALUE_HIDDEN: usize = 128;

/// Logits of all moves: for each square one for each move type.
pub struct PolicyHead(Linear);

impl PolicyHead {
    /// A head on `channels` channels.
    pub fn new(channels: usize, vb: &VarBuilder<'_>) -> Result<Self> {
        Ok(Self(linear(channels, MOVES / Square::NUM, vb)?))
    }
}

impl Module for PolicyHead {
    /// Maps boards x 64 x channels to boards x 4672.
    fn forward(&self, boards: &Tensor) -> Result<Tensor> {
        self.0.forward(boards)?.flatten_from(1)
    }
}

/// The value of positions for White, in [-1, 1].
pub struct ValueHead {
    squares: Linear,
    hidden: Linear,
    value: Linear,
}

impl ValueHead {
    /// A head on `channels` channels.
    pub fn new(channels: usize, vb: &VarBuilder<'_>) -> Result<Self> {
        Ok(Self {
            squares: linear(channels, VALUE_CHANNELS, &vb.pp("squares"))?,
            hidden: linear(Square::NUM * VALUE_CHANNELS, VALUE_HIDDEN, &vb.pp("hidden"))?,
            value: linear(VALUE_HIDDEN, 1, &vb.pp("value"))?,
        })
    }
}

impl Module for ValueHead {
    /// Maps boards x 64 x channels to one value for each board.
    fn forward(&self, boards: &Tensor) -> Result<Tensor> {
        let squares = self.squares.forward(boards)?.relu()?.flatten_from(1)?;
        self.value.forward(&self.hidden.forward(&squares)?.relu()?)?.squeeze(1)?.tanh()
    }
}
