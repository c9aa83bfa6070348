//! 3 x 3 convolutions on boards: each square's neighbourhood, padded with zeros, is multiplied by a
//! matrix. Boards are squares x channels, channels last. On the CPU, the operation and its gradient
//! take a few boards at a time, so that the neighbourhoods, nine times as large as the boards, stay
//! in the cache. Candle's convolutions need channels first, and are several times slower on boards
//! of 64 squares. The residual tower of such convolutions.

use azimuth_network::fused::column_sums;
use azimuth_network::tensor_slices::values;
use candle_core::{CpuStorage, CustomOp3, Device, Layout, Module, Result, Shape, Tensor};
use candle_nn::{VarBuilder, init};
use cozy_chess::Square;
use serde::{Deserialize, Serialize};

use super::{Linear, linear};

/// Number of boards whose neighbourhoods are gathered at a time.
const BOARDS: usize = 4;

const NEIGHBOURS: usize = 9;

/// The index of a neighbour outside the board.
const OUTSIDE: u8 = Square::NUM as u8;

/// The neighbourhoods of all squares, row by row from south-west to north-east.
const NEIGHBOURHOODS: [[u8; NEIGHBOURS]; Square::NUM] = {
    let mut all = [[OUTSIDE; NEIGHBOURS]; Square::NUM];
    let mut square = 0;
    while square < Square::NUM {
        let mut place = 0;
        while place < NEIGHBOURS {
            let file = (square % 8 + place % 3) as i8 - 1;
            let rank = (square / 8 + place / 3) as i8 - 1;
            if file >= 0 && file < 8 && rank >= 0 && rank < 8 {
                all[square][place] = (rank * 8 + file) as u8;
            }
            place += 1;
        }
        square += 1;
    }
    all
};

/// A convolution with a bias: maps boards x 64 x input channels to boards x 64 x output channels.
#[derive(Clone)]
pub struct BoardConvolution(Linear);

/// A convolution with parameters `weight` (out x 9 in) and `bias` (out).
pub fn board_convolution(
    inputs: usize,
    outputs: usize,
    vb: &VarBuilder<'_>,
) -> Result<BoardConvolution> {
    Ok(BoardConvolution(linear(NEIGHBOURS * inputs, outputs, vb)?))
}

fn silent_board_convolution(
    inputs: usize,
    outputs: usize,
    vb: &VarBuilder<'_>,
) -> Result<BoardConvolution> {
    let weight = vb.get_with_hints((outputs, NEIGHBOURS * inputs), "weight", init::ZERO)?;
    Ok(BoardConvolution(Linear { weight, bias: vb.get_with_hints(outputs, "bias", init::ZERO)? }))
}

impl BoardConvolution {
    pub fn device(&self) -> &Device {
        self.0.weight.device()
    }
}

impl Module for BoardConvolution {
    fn forward(&self, boards: &Tensor) -> Result<Tensor> {
        let (boards, channels) = (boards.contiguous()?, boards.dim(2)?);
        let Self(linear) = self;
        match self.device().is_cpu() {
            true => boards.apply_op3(&linear.weight, &linear.bias, Convolution { channels }),
            false => linear.forward(&selected(&boards)?),
        }
    }
}

/// The neighbourhoods by candle's operations, for a device. Maps boards x 64 x channels to boards x
/// 64 x 9 channels.
fn selected(boards: &Tensor) -> Result<Tensor> {
    let (count, squares, channels) = boards.dims3()?;
    let outside = Tensor::zeros((count, 1, channels), boards.dtype(), boards.device())?;
    let padded = Tensor::cat(&[boards, &outside], 1)?;
    let places = NEIGHBOURHOODS.as_flattened().iter().map(|&place| u32::from(place));
    let places = Tensor::from_iter(places, boards.device())?;
    padded.index_select(&places, 1)?.reshape((count, squares, NEIGHBOURS * channels))
}

/// The convolution of boards x 64 x channels with a weight (out x 9 channels) and a bias (out).
struct Convolution {
    channels: usize,
}

impl Convolution {
    /// Number of values of the boards that are handled at a time.
    fn at_once(&self) -> usize {
        BOARDS * Square::NUM * self.channels
    }

    /// The neighbourhoods of boards: squares x 9 channels.
    fn neighbourhoods(&self, boards: &[f32]) -> Result<Tensor> {
        let channels = self.channels;
        let squares = boards.len() / channels;
        let mut out = vec![0.0; squares * NEIGHBOURS * channels];
        let each = out.chunks_exact_mut(Square::NUM * NEIGHBOURS * channels);
        for (board, out) in boards.chunks_exact(Square::NUM * channels).zip(each) {
            let places = out.chunks_exact_mut(channels).zip(NEIGHBOURHOODS.as_flattened());
            for (place, &neighbour) in places.filter(|(_, neighbour)| **neighbour != OUTSIDE) {
                place.copy_from_slice(&board[usize::from(neighbour) * channels..][..channels]);
            }
        }
        Tensor::from_vec(out, (squares, NEIGHBOURS * channels), &Device::Cpu)
    }

    /// Appends the gradients of boards. That of a square is the sum over the neighbourhoods that
    /// contain it.
    fn append_board_gradients(&self, neighbourhoods: &[f32], boards: &mut Vec<f32>) {
        let channels = self.channels;
        let first = boards.len();
        boards.resize(first + neighbourhoods.len() / NEIGHBOURS, 0.0);
        let each = neighbourhoods.chunks_exact(Square::NUM * NEIGHBOURS * channels);
        for (board, neighbourhoods) in
            boards[first..].chunks_exact_mut(Square::NUM * channels).zip(each)
        {
            let places = neighbourhoods.chunks_exact(channels).zip(NEIGHBOURHOODS.as_flattened());
            for (place, &neighbour) in places.filter(|(_, neighbour)| **neighbour != OUTSIDE) {
                let sums = &mut board[usize::from(neighbour) * channels..][..channels];
                sums.iter_mut().zip(place).for_each(|(sum, value)| *sum += value);
            }
        }
    }
}

impl CustomOp3 for Convolution {
    fn name(&self) -> &'static str {
        "board-convolution"
    }

    fn cpu_fwd(
        &self,
        boards: &CpuStorage,
        of_boards: &Layout,
        weight: &CpuStorage,
        of_weight: &Layout,
        bias: &CpuStorage,
        of_bias: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let bias = values(bias, of_bias)?;
        let weight =
            Tensor::from_slice(values(weight, of_weight)?, of_weight.shape(), &Device::Cpu)?.t()?;
        let (count, squares, _) = of_boards.shape().dims3()?;
        let mut out = Vec::with_capacity(count * squares * bias.len());
        for boards in values(boards, of_boards)?.chunks(self.at_once()) {
            let product = self.neighbourhoods(boards)?.matmul(&weight)?.flatten_all()?;
            let sums = product.to_vec1::<f32>()?;
            let rows = sums.chunks_exact(bias.len());
            out.extend(rows.flat_map(|row| row.iter().zip(bias).map(|(sum, bias)| sum + bias)));
        }
        Ok((CpuStorage::F32(out), (count, squares, bias.len()).into()))
    }

    fn bwd(
        &self,
        boards: &Tensor,
        weight: &Tensor,
        _: &Tensor,
        _: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let outputs = weight.dim(0)?;
        let gradient = gradient.reshape(((), outputs))?;
        // The inputs of the first layer need no gradient.
        let mut of_boards = boards.track_op().then(|| Vec::with_capacity(boards.elem_count()));
        let mut of_weight = weight.zeros_like()?;
        let mut row = 0;
        for boards in boards.flatten_all()?.to_vec1::<f32>()?.chunks(self.at_once()) {
            let rows = boards.len() / self.channels;
            let gradient = gradient.narrow(0, row, rows)?;
            let neighbourhoods = self.neighbourhoods(boards)?;
            of_weight = (of_weight + gradient.t()?.matmul(&neighbourhoods)?)?;
            if let Some(of_boards) = &mut of_boards {
                let found = gradient.matmul(weight)?.flatten_all()?.to_vec1::<f32>()?;
                self.append_board_gradients(&found, of_boards);
            }
            row += rows;
        }
        let of_boards =
            of_boards.map(|values| Tensor::from_vec(values, boards.shape(), &Device::Cpu));
        Ok((of_boards.transpose()?, Some(of_weight), Some(column_sums(&gradient)?)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TowerConfig {
    pub blocks: usize,
    pub channels: usize,
    /// Whether the inputs, moves and values are those of the side to move, instead of White's.
    #[serde(default)]
    pub oriented: bool,
}

/// Maps boards x 64 x inputs to boards x 64 x channels.
#[derive(Clone)]
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

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::super::assert_agree;
    use super::*;

    #[test]
    fn values_and_gradients_equal_those_of_candles_convolution() -> Result<()> {
        // More boards than are handled at a time.
        let (device, count, inputs, outputs) = (Device::Cpu, BOARDS + 1, 3, 4);
        let boards = Var::randn(0f32, 1.0, (count, Square::NUM, inputs), &device)?;
        let weight = Var::randn(0f32, 1.0, (outputs, NEIGHBOURS * inputs), &device)?;
        let bias = Var::randn(0f32, 1.0, outputs, &device)?;
        let [w, b] = [&weight, &bias].map(|var| var.as_tensor().clone());
        let found = BoardConvolution(Linear { weight: w, bias: b }).forward(&boards)?;

        let image = boards.transpose(1, 2)?.reshape((count, inputs, 8, 8))?;
        let kernel =
            weight.reshape((outputs, 3, 3, inputs))?.permute((0, 3, 1, 2))?.contiguous()?;
        let known = image.conv2d(&kernel, 1, 1, 1, 1)?.reshape((count, outputs, Square::NUM))?;
        let known = known.transpose(1, 2)?.broadcast_add(&bias)?;

        assert_agree(&found, &known, &[&boards, &weight, &bias], [1e-4, 1e-3])
    }

    #[test]
    fn a_device_gathers_the_same_neighbourhoods() -> Result<()> {
        let channels = 3;
        let boards = Var::randn(0f32, 1.0, (2, Square::NUM, channels), &Device::Cpu)?;
        let weight = Var::randn(0f32, 1.0, (4, NEIGHBOURS * channels), &Device::Cpu)?;
        let bias = Var::randn(0f32, 1.0, 4, &Device::Cpu)?;
        let known = boards.apply_op3(&weight, &bias, Convolution { channels })?;
        let [w, b] = [&weight, &bias].map(|var| var.as_tensor().clone());
        let found = Linear { weight: w, bias: b }.forward(&selected(&boards)?)?;
        assert_agree(&found, &known, &[&boards, &weight, &bias], [1e-4, 1e-3])
    }
}
