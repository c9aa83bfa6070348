//! A tower of residual blocks over boards (He et al. 2016; seed document 004, section 2.3.1), which the policy, the two
//! heads and the value share. A block adds two convolutions, each after a ReLU, to what comes in. There is no batch
//! norm, of which the document says nothing: the second convolution of a block begins at zero, so that the tower begins
//! as the identity (Zhang et al. 2019, "Fixup Initialization").

use candle_core::{Module, Result, Tensor};
use candle_nn::VarBuilder;
use serde::{Deserialize, Serialize};

use super::board_convolution::{BoardConvolution, board_convolution, silent_board_convolution};

/// Sizes of a tower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TowerConfig {
    /// Residual blocks.
    pub blocks: usize,
    /// Channels of each.
    pub channels: usize,
}

/// Boards x 64 x inputs in, boards x 64 x channels out.
pub struct ResidualTower {
    first: BoardConvolution,
    blocks: Vec<[BoardConvolution; 2]>,
}

impl ResidualTower {
    /// A tower with the parameters `first` and `block.N.0`, `block.N.1`.
    pub fn new(inputs: usize, config: TowerConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        let TowerConfig { blocks, channels } = config;
        let block = |number: usize| {
            let vb = vb.pp("block").pp(number);
            let second = silent_board_convolution(channels, channels, &vb.pp("1"))?;
            Ok([board_convolution(channels, channels, vb.pp("0"))?, second])
        };
        Ok(Self {
            first: board_convolution(inputs, channels, vb.pp("first"))?,
            blocks: (0..blocks).map(block).collect::<Result<_>>()?,
        })
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
