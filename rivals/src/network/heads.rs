//! The output heads of a tower: a distribution over moves, or the value of a position. The legal
//! moves among the logits of a distribution.

use azimuth_chess::position::legal_moves;
use candle_core::{D, Device, Module, Result, Tensor};
use candle_nn::VarBuilder;
use candle_nn::ops::log_softmax;
use cozy_chess::{Board, Move, Square};

use super::layers::{Linear, linear};
use crate::board::{MOVES, move_index, viewer};

/// Maps boards x 64 x channels to logits of all moves: for each square one for each move type.
pub fn policy_head(channels: usize, vb: &VarBuilder<'_>) -> Result<Linear> {
    linear(channels, MOVES / Square::NUM, vb)
}

/// Channels for each square in the value head.
const VALUE_CHANNELS: usize = 8;

/// Neurons of the value head's hidden layer.
const VALUE_HIDDEN: usize = 128;

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

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;

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
