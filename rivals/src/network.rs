//! Layers that several networks share: clipped ReLU, whose gradient is faster on the CPU than
//! candle's, convolutions on boards, and the heads of a residual tower.

use azimuth_chess::position::legal_moves;
use azimuth_network::tensor_slices::{values, with_values};
use candle_core::{CpuStorage, CustomOp1, D, Device, Layout, Module, Result, Shape, Tensor};
use candle_nn::ops::log_softmax;
use candle_nn::{Linear, VarBuilder, init, linear};
use cozy_chess::{Board, Move, Square};
use serde::{Deserialize, Serialize};

use crate::board::{PLANES, move_index, viewer};

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
            squares: linear(channels, VALUE_CHANNELS, vb.pp("squares"))?,
            hidden: linear(Square::NUM * VALUE_CHANNELS, VALUE_HIDDEN, vb.pp("hidden"))?,
            value: linear(VALUE_HIDDEN, 1, vb.pp("value"))?,
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

const NEIGHBOURS: usize = 9;

/// A 3 x 3 convolution with a bias: a matrix multiplies each square's neighbourhood, padded with
/// zeros. (Candle's convolutions need channels first, and are several times slower on boards of 64
/// squares.)
#[derive(Clone)]
pub struct BoardConvolution {
    linear: Linear,
    /// The squares of all neighbourhoods; 64 is outside the board.
    places: Tensor,
}

impl BoardConvolution {
    /// A convolution with the parameters `weight` (out x 9 in) and `bias` (out).
    pub fn new(inputs: usize, outputs: usize, vb: VarBuilder<'_>) -> Result<Self> {
        Self::of(linear(NEIGHBOURS * inputs, outputs, vb)?)
    }

    /// One with as many outputs as inputs, and with parameters that are 0 at first.
    fn silent(channels: usize, vb: &VarBuilder<'_>) -> Result<Self> {
        let weight = vb.get_with_hints((channels, NEIGHBOURS * channels), "weight", init::ZERO)?;
        let bias = vb.get_with_hints(channels, "bias", init::ZERO)?;
        Self::of(Linear::new(weight, Some(bias)))
    }

    fn of(linear: Linear) -> Result<Self> {
        // Row by row from south-west to north-east.
        let steps = [-1, 0, 1].map(|rank| [-1, 0, 1].map(|file| (file, rank)));
        let neighbours = |square: Square| {
            let place = |&(file, rank): &(i8, i8)| {
                square.try_offset(file, rank).map_or(Square::NUM as u32, |place| place as u32)
            };
            steps.as_flattened().iter().map(place).collect::<Vec<_>>()
        };
        let places = Square::ALL.into_iter().flat_map(neighbours);
        let places = Tensor::from_iter(places, linear.weight().device())?;
        Ok(Self { linear, places })
    }
}

impl Module for BoardConvolution {
    /// Maps boards x 64 x inputs to boards x 64 x outputs.
    fn forward(&self, boards: &Tensor) -> Result<Tensor> {
        let padded = boards.pad_with_zeros(1, 0, 1)?;
        let (count, squares, channels) = boards.dims3()?;
        let neighbourhoods = padded.index_select(&self.places, 1)?;
        self.linear.forward(&neighbourhoods.reshape((count, squares, NEIGHBOURS * channels))?)
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

/// Maps the planes of boards (boards x 64 x 20) to boards x 64 x channels.
#[derive(Clone)]
pub struct ResidualTower {
    first: BoardConvolution,
    blocks: Vec<[BoardConvolution; 2]>,
}

impl ResidualTower {
    /// A tower with the parameters `first` and `block.N.0`, `block.N.1`.
    pub fn new(blocks: usize, channels: usize, vb: &VarBuilder<'_>) -> Result<Self> {
        let block = |number: usize| {
            let vb = vb.pp("block").pp(number);
            let second = BoardConvolution::silent(channels, &vb.pp("1"))?;
            Ok([BoardConvolution::new(channels, channels, vb.pp("0"))?, second])
        };
        Ok(Self {
            first: BoardConvolution::new(PLANES, channels, vb.pp("first"))?,
            blocks: (0..blocks).map(block).collect::<Result<_>>()?,
        })
    }

    pub fn device(&self) -> &Device {
        self.first.places.device()
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
        let (device, count, inputs, outputs) = (Device::Cpu, 2, 3, 4);
        let boards = Var::randn(0f32, 1.0, (count, Square::NUM, inputs), &device)?;
        let weight = Var::randn(0f32, 1.0, (outputs, NEIGHBOURS * inputs), &device)?;
        let bias = Var::randn(0f32, 1.0, outputs, &device)?;
        let [w, b] = [&weight, &bias].map(|var| var.as_tensor().clone());
        let found = BoardConvolution::of(Linear::new(w, Some(b)))?.forward(&boards)?;

        let image = boards.transpose(1, 2)?.reshape((count, inputs, 8, 8))?;
        let kernel =
            weight.reshape((outputs, 3, 3, inputs))?.permute((0, 3, 1, 2))?.contiguous()?;
        let known = image.conv2d(&kernel, 1, 1, 1, 1)?.reshape((count, outputs, Square::NUM))?;
        let known = known.transpose(1, 2)?.broadcast_add(&bias)?;

        assert_agree(&found, &known, &[&boards, &weight, &bias], [1e-4, 1e-3])
    }
}
