//! Layers that several networks share: a linear layer and clipped ReLU, whose gradients are faster
//! on the CPU than candle's, convolutions on boards, and the heads of a residual tower.

mod convolution;

use azimuth_chess::position::legal_moves;
use azimuth_network::tensor_slices::{values, with_values};
use candle_core::{CpuStorage, CustomOp1, D, Device, Layout, Module, Result, Shape, Tensor};
use candle_nn::ops::log_softmax;
use candle_nn::{Init, VarBuilder, init};
use cozy_chess::{Board, Move, Square};

use crate::board::{move_index, viewer};
pub use convolution::{BoardConvolution, ResidualTower, TowerConfig, board_convolution};

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
        (shares * self.log_probabilities(logits)?)?.sum(D::Minus1)?.mean_all()?.neg()
    }

    fn log_probabilities(&self, logits: &Tensor) -> Result<Tensor> {
        log_softmax(&(logits.gather(&self.places, 1)? + &self.padding)?, D::Minus1)
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
}
