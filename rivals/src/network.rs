//! Layers that several networks share: a linear layer and clipped ReLU, whose gradients are faster
//! on the CPU than candle's, convolutions on boards, and the heads of a residual tower.
//!
//! 3 x 3 convolutions on boards: each square's neighbourhood, padded with zeros, is multiplied by a
//! matrix. Boards are squares x channels, channels last. On the CPU, the operation and its gradient
//! take a few boards at a time, so that the neighbourhoods, nine times as large as the boards, stay
//! in the cache. Candle's convolutions need channels first, and are several times slower on boards
//! of 64 squares. The residual tower of such convolutions.

use azimuth_chess::position::legal_moves;
use azimuth_network::fused::column_sums;
use azimuth_network::tensor_slices::{values, with_values};
use candle_core::{
    CpuStorage, CustomOp1, CustomOp3, D, Device, Layout, Module, Result, Shape, Tensor,
};
use candle_nn::ops::log_softmax;
use candle_nn::{Init, VarBuilder, init};
use cozy_chess::{Board, Move, Square};
use serde::{Deserialize, Serialize};

use crate::board::{move_index, viewer};

/// Maps rows of inputs to rows of outputs. The gradient of the bias is a matrix product: candle's
/// own sum over rows takes longer than all other gradients of the layer.
#[derive(Clone)]
pub struct Linear {
    /// Outputs x inputs.
    pub weight: Tensor,
    /// Outputs.
    pub bias: Tensor,
}

/// A layer with the parameters `weight` (outputs x inputs) and `bias` (outputs), initialised as
/// candle does.
pub fn linear(inputs: usize, outputs: usize, vb: &VarBuilder<'_>) -> Result<Linear> {
    let bound = 1.0 / (inputs as f64).sqrt();
    Ok(Linear {
        weight: vb.get_with_hints((outputs, inputs), "weight", init::DEFAULT_KAIMING_NORMAL)?,
        bias: vb.get_with_hints(outputs, "bias", Init::Uniform { lo: -bound, up: bound })?,
    })
}

impl Module for Linear {
    /// Maps .. x inputs to .. x outputs.
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (outputs, inputs) = self.weight.dims2()?;
        let product = x.reshape(((), inputs))?.matmul(&self.weight.t()?)?;
        let ones = Tensor::ones((product.dim(0)?, 1), x.dtype(), x.device())?;
        let shape = [&x.dims()[..x.rank() - 1], &[outputs]].concat();
        (product + ones.matmul(&self.bias.unsqueeze(0)?)?)?.reshape(shape)
    }
}

pub fn clipped_relu(x: &Tensor) -> Result<Tensor> {
    match x.device().is_cpu() {
        true => x.contiguous()?.apply_op1(ClippedRelu),
        false => x.clamp(0f32, 1f32),
    }
}

struct ClippedRelu;

impl CustomOp1 for ClippedRelu {
    fn name(&self) -> &'static str {
        "clipped-relu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let clipped = values(x, layout)?.iter().map(|x| x.clamp(0.0, 1.0)).collect();
        Ok((CpuStorage::F32(clipped), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let of_x = with_values([x, gradient], |[x, gradient]| -> Vec<f32> {
            let of_value = |(&x, &of_output)| if 0.0 < x && x < 1.0 { of_output } else { 0.0 };
            x.iter().zip(gradient).map(of_value).collect()
        })?;
        Tensor::from_vec(of_x, x.shape(), &Device::Cpu).map(Some)
    }
}

/// Channels for each square in the value head.
const VALUE_CHANNELS: usize = 8;

const VALUE_HIDDEN: usize = 128;

/// The value of positions for White, in [-1, 1].
#[derive(Clone)]
pub struct ValueHead {
    squares: Linear,
    hidden: Linear,
    value: Linear,
}

impl ValueHead {
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

/// The legal moves of boards, and their places among a network's logits.
pub struct LegalMoves {
    moves: Vec<Vec<Move>>,
    /// Move indices (boards x the largest number of moves); 0 where a board has fewer moves.
    places: Tensor,
    /// In the same shape: 0, and [`NEVER`] where a board has fewer moves.
    padding: Tensor,
}

/// Added to the logits of padding.
const NEVER: f32 = -1e9;

impl LegalMoves {
    /// The legal moves of `boards`, for a network that sees boards from the side to move
    /// (`oriented`) or from White.
    pub fn new(boards: &[&Board], oriented: bool, device: &Device) -> Result<Self> {
        let moves: Vec<Vec<Move>> = boards.iter().map(|board| legal_moves(board)).collect();
        let shape = (boards.len(), moves.iter().map(Vec::len).max().unwrap_or(0).max(1));
        let mut places = vec![0u32; shape.0 * shape.1];
        let mut padding = vec![NEVER; shape.0 * shape.1];
        for (row, (board, moves)) in boards.iter().zip(&moves).enumerate() {
            let view = viewer(board, oriented);
            for (place, &mv) in (row * shape.1..).zip(moves) {
                places[place] = move_index(board, mv, view) as u32;
                padding[place] = 0.0;
            }
        }
        Ok(Self {
            moves,
            places: Tensor::from_vec(places, shape, device)?,
            padding: Tensor::from_vec(padding, shape, device)?,
        })
    }

    /// Each board's legal moves with their probabilities, from logits of all moves
    /// (boards x 4672).
    pub fn probabilities(&self, logits: &Tensor) -> Result<Vec<Vec<(Move, f32)>>> {
        let rows = self.log_probabilities(logits)?.exp()?.to_vec2::<f32>()?;
        let paired =
            |(moves, row): (&Vec<Move>, Vec<f32>)| moves.iter().copied().zip(row).collect();
        Ok(self.moves.iter().zip(rows).map(paired).collect())
    }

    /// The mean cross-entropy of logits of all moves with a distribution over each board's legal
    /// moves. Moves that a distribution leaves out have the share 0.
    pub fn cross_entropy(&self, logits: &Tensor, targets: &[Vec<(Move, f32)>]) -> Result<Tensor> {
        self.log_likelihoods(logits, targets)?.mean_all()?.neg()
    }

    /// For each board, the mean of its moves' log probabilities under such a distribution.
    pub fn log_likelihoods(&self, logits: &Tensor, targets: &[Vec<(Move, f32)>]) -> Result<Tensor> {
        let (boards, most) = self.places.dims2()?;
        let mut shares = vec![0f32; boards * most];
        for ((moves, target), row) in self.moves.iter().zip(targets).zip(shares.chunks_mut(most)) {
            for &(mv, share) in target {
                if let Some(place) = moves.iter().position(|&legal| legal == mv) {
                    row[place] = share;
                }
            }
        }
        let shares = Tensor::from_vec(shares, (boards, most), logits.device())?;
        (shares * self.log_probabilities(logits)?)?.sum(D::Minus1)
    }

    fn log_probabilities(&self, logits: &Tensor) -> Result<Tensor> {
        log_softmax(&(logits.gather(&self.places, 1)? + &self.padding)?, D::Minus1)
    }
}

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

/// Checks that two tensors are equal, and that both give the variables equal gradients for random
/// gradients of the tensors. The errors are the largest allowed differences of values and of
/// gradients.
#[cfg(test)]
pub fn assert_agree(
    found: &Tensor,
    known: &Tensor,
    variables: &[&candle_core::Var],
    [of_values, of_gradients]: [f32; 2],
) -> Result<()> {
    let apart = |a: &Tensor, b: &Tensor| (a - b)?.abs()?.max_all()?.to_scalar::<f32>();
    assert!(apart(found, known)? < of_values);
    let of_output = Tensor::randn(0f32, 1.0, found.shape(), found.device())?;
    let gradients = |out: &Tensor| (out * &of_output)?.sum_all()?.backward();
    let (found, known) = (gradients(found)?, gradients(known)?);
    for variable in variables {
        let [a, b] = [&found, &known].map(|store| store.get(variable).expect("tracked"));
        assert!(apart(a, b)? < of_gradients);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;
    use crate::board::MOVES;

    #[test]
    fn values_and_gradients_equal_those_of_candles_layer() -> Result<()> {
        let device = &Device::Cpu;
        let x = Var::randn(0f32, 1.0, (2, 3, 5), device)?;
        let weight = Var::randn(0f32, 1.0, (4, 5), device)?;
        let bias = Var::randn(0f32, 1.0, 4, device)?;
        let [w, b] = [&weight, &bias].map(|var| var.as_tensor().clone());
        let found = Linear { weight: w.clone(), bias: b.clone() }.forward(&x)?;
        let known = candle_nn::Linear::new(w, Some(b)).forward(&x)?;
        assert_agree(&found, &known, &[&x, &weight, &bias], [1e-5; 2])
    }

    #[test]
    fn values_and_gradients_equal_those_of_candles_clamp() -> Result<()> {
        let x = Var::new(&[[-0.5f32, 0.25], [0.75, 1.5]], &Device::Cpu)?;
        let gradient = Tensor::new(&[[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
        let all = [clipped_relu(&x)?, x.clamp(0f32, 1f32)?];
        for out in all {
            assert_eq!(out.to_vec2::<f32>()?, [[0.0, 0.25], [0.75, 1.0]]);
            let gradients = (out * &gradient)?.sum_all()?.backward()?;
            let found = gradients.get(&x).expect("tracked").to_vec2::<f32>()?;
            assert_eq!(found, [[0.0, 2.0], [3.0, 0.0]]);
        }
        Ok(())
    }

    #[test]
    fn only_legal_moves_have_probabilities_and_gradients() -> Result<()> {
        let fen = "7k/8/8/8/8/8/6q1/7K w - - 0 1";
        let boards = [Board::startpos(), fen.parse().expect("valid")];
        let boards: Vec<&Board> = boards.iter().collect();
        let device = &Device::Cpu;
        let logits = Var::zeros((2, MOVES), candle_core::DType::F32, device)?;
        for oriented in [false, true] {
            let legal = LegalMoves::new(&boards, oriented, device)?;
            let [first, second] = &legal.probabilities(&logits)?[..] else {
                panic!("two boards");
            };
            assert!(first.iter().all(|&(_, p)| (p - 0.05).abs() < 1e-6) && first.len() == 20);
            // The king must take the queen.
            assert_eq!(second.len(), 1);
            assert_eq!(second[0].1, 1.0);
            let targets = [vec![(first[3].0, 0.5), (first[7].0, 0.5)], vec![(second[0].0, 1.0)]];
            let loss = legal.cross_entropy(&logits, &targets)?;
            assert!((loss.to_scalar::<f32>()? - 20f32.ln() / 2.0).abs() < 1e-5);
            let gradients = loss.backward()?;
            let gradient = gradients.get(&logits).expect("tracked").to_vec2::<f32>()?;
            let moved = |row: &[f32]| row.iter().filter(|g| g.abs() > 1e-6).count();
            assert_eq!([moved(&gradient[0]), moved(&gradient[1])], [20, 0]);
        }
        Ok(())
    }

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
