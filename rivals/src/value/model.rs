//! The value network. Its last convolution has more channels than the first (the document's section
//! 4.3).

use candle_core::{Module, Result, Tensor};
use candle_nn::VarBuilder;
use cozy_chess::Board;
use serde::{Deserialize, Serialize};

use crate::board::{PLANES, planes, signs};
use crate::network::{BoardConvolution, ResidualTower, TowerConfig, ValueHead, board_convolution};

/// Sizes of the network.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueConfig {
    /// Number of residual blocks.
    pub blocks: usize,
    /// Channels of each block.
    pub channels: usize,
    /// Channels of the convolution after the blocks.
    pub last_channels: usize,
    /// Whether the inputs and the output are those of the side to move, instead of White's.
    #[serde(default)]
    pub oriented: bool,
}

/// Maps positions to values.
pub struct ValueNetwork {
    tower: ResidualTower,
    last: BoardConvolution,
    value: ValueHead,
    oriented: bool,
}

impl ValueNetwork {
    /// A network with the parameters `tower`, `last` and `value`.
    pub fn new(config: ValueConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        let ValueConfig { blocks, channels, last_channels, oriented } = config;
        let tower = TowerConfig { blocks, channels, oriented };
        Ok(Self {
            tower: ResidualTower::new(PLANES, tower, &vb.pp("tower"))?,
            last: board_convolution(channels, last_channels, &vb.pp("last"))?,
            value: ValueHead::new(last_channels, &vb.pp("value"))?,
            oriented,
        })
    }

    /// The value of positions for White, in [-1, 1].
    pub fn values<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board> + Clone,
    ) -> Result<Tensor> {
        let device = self.tower.device();
        let signs = signs(boards.clone(), self.oriented, device)?;
        let boards = self.tower.forward(&planes(boards, self.oriented, device)?)?;
        self.value.forward(&self.last.forward(&boards)?.relu()?)? * signs
    }
}
