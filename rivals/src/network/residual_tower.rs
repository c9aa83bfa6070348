//! A tower of residual blocks over boards (He et al. 2016; seed document 004, section 2.3.1),
//! shared by the policy, two-head and value rivals. A block adds the output of two convolutions,
//! each preceded by a ReLU, to its input. There is no batch norm, since the document does not
//! mention it. Instead the second convolution of a block is initialised to zero, so that the tower
//! starts as the identity (Zhang et al. 2019, "Fixup Initialization").

use candle_core::{Device, Module, Result, Tensor};
use candle_nn::VarBuilder;
use serde::{Deserialize, Serialize};

use super::board_convolution::{BoardConvolution, board_convolution, silent_board_convolution};

/// Sizes of a tower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TowerConfig {
    /// Number of residual blocks.
    pub blocks: usize,
    /// Channels of each block.
    pub channels: usize,
    /// Whether the inputs, moves and values are those of the side to move, instead of White's.
    #[serde(default)]
    pub oriented: bool,
}

/// Maps boards x 64 x inputs to boards x 64 x channels.
pub struct ResidualTower {
    first: BoardConvolution,
    blocks: Vec<[BoardConvolution; 2]>,
}

impl ResidualTower {
    /// A tower with the parameters `first` and `block.N.0`, `block.N.1`.
    pub fn new(inputs: usize, config: TowerConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        let TowerConfig { blocks, channels, .. } = config;
        let block = |number: usize| {
            let vb = vb.pp("block").pp(number);
            let second = silent_board_convolution(channels, channels, &vb.pp("1"))?;
            Ok([board_convolution(channels, channels, &vb.pp("0"))?, second])
        };
        Ok(Self {
            first: board_convolution(inputs, channels, &vb.pp("first"))?,
            blocks: (0..blocks).map(block).collect::<Result<_>>()?,
        })
    }

    /// The device of the parameters.
    pub fn device(&self) -> &Device {
        self.first.device()
    }
}

impl Module for ResidualTower {
    fn forward(&self, boards: &Tensor) -> Result<Tensor> {
        let mut stream = self.first.forward(boards)?;
        for [first, second] in &self.blocks {
            let hidden = first.forward(&stream.relu()?)?;
            stream = (stream + second.forward(&hidden.relu()?)?)?;
        }
        stream.relu()
    }
}
