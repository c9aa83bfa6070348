//! The NNUE (seed document 004, section 2.3.5): HalfKP, with 40,960 features a side. Both sides
//! share a layer of 256 neurons; layers of 32, 32 and 1 follow, with clipped ReLU. It plays with
//! quantised weights and incrementally updated sums, under alpha-beta.
//!
//! The features of a position, the network in floats, and its training: the squared error of the
//! win probability of the side to move, with AdamW. The trained network is quantised.

mod quantised;

use std::iter::repeat_n;

use anyhow::Result;
use azimuth_network::embedding_bag::{Bags, sums};
use candle_core::{Module, Tensor};
use candle_nn::loss::mse;
use candle_nn::ops::sigmoid;
use candle_nn::{Init, VarBuilder};
use cozy_chess::{Board, Color, Piece, Square};
use serde::{Deserialize, Serialize};

use crate::board::{PIECES, for_side};
use crate::network::{Linear, clipped_relu, linear};
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions, TrainingStep};
use crate::value::value_metrics;
use crate::weights::RivalWeights;
pub use quantised::planner;
use quantised::quantise;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NnueConfig {
    /// Neurons of the first layer for each side.
    pub half: usize,
    /// Neurons of the second layer, which takes both sides' outputs.
    pub first: usize,
    /// Neurons of the third layer.
    pub second: usize,
}

/// Maps positions to the logit of the side to move's win probability.
pub struct NnueNetwork {
    table: Tensor,
    bias: Tensor,
    layers: [Linear; 3],
}

impl NnueNetwork {
    /// A network with the parameters `half.weight`, `half.bias`, `first`, `second` and `value`.
    pub fn new(config: NnueConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        let NnueConfig { half, first, second } = config;
        // The values are small because about 30 rows are summed.
        let rows = Init::Randn { mean: 0.0, stdev: 0.05 };
        Ok(Self {
            table: vb.get_with_hints((FEATURES, half), "half.weight", rows)?,
            bias: vb.get_with_hints(half, "half.bias", Init::Const(0.3))?,
            layers: [
                linear(2 * half, first, &vb.pp("first"))?,
                linear(first, second, &vb.pp("second"))?,
                linear(second, 1, &vb.pp("value"))?,
            ],
        })
    }

    pub fn logits<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board>,
    ) -> candle_core::Result<Tensor> {
        let count = boards.len();
        let bags = bags(boards);
        let halves = match self.table.device().is_cpu() {
            true => sums(&self.table, &self.bias, bags)?,
            false => selected_sums(&self.table, &self.bias, &bags)?,
        };
        let [first, second, value] = &self.layers;
        let halves = clipped_relu(&halves)?.reshape((count, ()))?;
        let hidden = clipped_relu(&first.forward(&halves)?)?;
        value.forward(&clipped_relu(&second.forward(&hidden)?)?)?.squeeze(1)
    }
}

/// The sums by candle's operations, for a device: bags x H.
fn selected_sums(table: &Tensor, bias: &Tensor, bags: &Bags) -> candle_core::Result<Tensor> {
    let rows: Vec<u32> = bags.rows().iter().map(|&row| row.into()).collect();
    let places = bags.iter().enumerate();
    let places: Vec<u32> =
        places.flat_map(|(bag, rows)| repeat_n(bag as u32, rows.len())).collect();
    let [rows, places] =
        [rows, places].map(|numbers| Tensor::from_slice(&numbers, numbers.len(), table.device()));
    let sums = Tensor::zeros((bags.len(), table.dim(1)?), table.dtype(), table.device())?;
    sums.index_add(&places?, &table.index_select(&rows?, 0)?, 0)?.broadcast_add(bias)
}

/// Number of piece kinds: five for each side.
const KINDS: usize = 10;

pub const FEATURES: usize = Square::NUM * Square::NUM * KINDS;

/// The kinds of one side's pieces, in the order of their indices.
pub const KINDS_OF_A_SIDE: [Piece; KINDS / 2] =
    [PIECES[0], PIECES[1], PIECES[2], PIECES[3], PIECES[4]];

/// The perspective of a side with its king on a given square.
#[derive(Clone, Copy)]
pub struct View {
    side: Color,
    king: usize,
}

impl View {
    pub fn of(board: &Board, side: Color) -> Self {
        Self { side, king: board.king(side).relative_to(side) as usize }
    }

    /// The feature index of a piece on a square; `kind` is an index into [`KINDS_OF_A_SIDE`].
    pub fn feature(self, color: Color, kind: usize, square: Square) -> usize {
        let kind = if color == self.side { kind } else { kind + KINDS / 2 };
        (self.king * Square::NUM + square.relative_to(self.side) as usize) * KINDS + kind
    }
}

/// Visits the active features of a side.
pub fn active(board: &Board, side: Color, mut visit: impl FnMut(usize)) {
    let view = View::of(board, side);
    for color in Color::ALL {
        for (kind, piece) in KINDS_OF_A_SIDE.into_iter().enumerate() {
            for square in board.colored_pieces(color, piece) {
                visit(view.feature(color, kind, square));
            }
        }
    }
}

/// The active features of boards, two bags for each board: the side to move first, then the other
/// side.
pub fn bags<'a>(boards: impl Iterator<Item = &'a Board>) -> Bags {
    let (mut rows, mut ends) = (Vec::new(), Vec::new());
    for board in boards {
        let own = board.side_to_move();
        for side in [own, !own] {
            active(board, side, |feature| rows.push(feature as u16));
            ends.push(rows.len() as u32);
        }
    }
    Bags::new(rows, ends)
}

/// The document's sizes and plan: 50 epochs of 6.7 million positions, in batches of 2,048.
const DOCUMENT: (NnueConfig, Plan) = (
    NnueConfig { half: 256, first: 32, second: 32 },
    Plan { batch: 2_048, steps: 164_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

/// Larger batches: each optimiser step updates the whole table, whatever the batch size.
const SMALL: (NnueConfig, Plan) = (
    DOCUMENT.0,
    Plan { batch: 16_384, steps: 2_400, learning_rate: 2e-3, weight_decay: 0.0, clip: None },
);

pub fn train(options: &TrainOptions) -> Result<()> {
    let (lesson, config) = Lesson::read("nnue", options, DOCUMENT, SMALL)?;
    let mut network = NnueNetwork::new(config, &lesson.vb())?;
    crate::training::train(options, &lesson, &mut network)
}

impl Learner for NnueNetwork {
    fn loss(&mut self, step: &mut TrainingStep<'_>) -> Result<Tensor> {
        let studies = step.sample(step.lesson.plan.batch);
        let labelled = studies.iter().map(|study| {
            let (board, p) = study.child(&mut step.rng);
            let own = if board.side_to_move() == Color::White { p } else { 1.0 - p };
            (board, own)
        });
        let (boards, labels): (Vec<Board>, Vec<f32>) = labelled.unzip();
        let logits = self.logits(boards.iter())?;
        let labels = Tensor::from_vec(labels, boards.len(), logits.device())?;
        Ok(mse(&sigmoid(&logits)?, &labels)?)
    }

    fn measure(&mut self, lesson: &Lesson) -> Result<Metrics> {
        value_metrics(&lesson.studies.held_out, |_, boards| {
            let own = sigmoid(&self.logits(boards.iter())?)?.to_vec1::<f32>()?;
            let of_white =
                |(board, p): (&Board, f32)| for_side(board.side_to_move(), 2.0 * p - 1.0);
            Ok(boards.iter().zip(own).map(of_white).collect())
        })
    }

    fn finish(&self, weights: RivalWeights) -> Result<RivalWeights> {
        quantise(weights)
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use candle_core::{Device, Var};

    use super::*;
    use crate::network::assert_agree;

    fn features(fen: &str, side: Color) -> Vec<usize> {
        let mut found = Vec::new();
        active(&fen.parse().expect("valid"), side, |feature| found.push(feature));
        found.sort_unstable();
        found
    }

    #[test]
    fn numbers_are_those_worked_out_by_hand() {
        // White's king on e1 is square 4, its pawn on a2 square 8 and kind 0; Black's queen on d8
        // is square 59 and kind 9.
        let fen = "3qk3/8/8/8/8/8/P7/4K3 w - - 0 1";
        let [pawn, queen] = [(4 * 64 + 8) * 10, (4 * 64 + 59) * 10 + 9];
        assert_eq!(features(fen, Color::White), [pawn, queen]);
        // Seen by Black, its king on e8 is on e1, its queen on d1 (3) is kind 4, and the pawn on a7
        // (48) kind 5.
        let [queen, pawn] = [(4 * 64 + 3) * 10 + 4, (4 * 64 + 48) * 10 + 5];
        assert_eq!(features(fen, Color::Black), [queen, pawn]);
    }

    #[test]
    fn a_device_computes_the_same_sums_and_gradients() -> Result<()> {
        let endgame = "4k3/8/8/8/8/8/1P6/R3K3 w Q - 0 1".parse().expect("valid");
        let boards = [Board::startpos(), endgame];
        let table = Var::randn(0f32, 1.0, (FEATURES, 4), &Device::Cpu)?;
        let bias = Var::randn(0f32, 1.0, 4, &Device::Cpu)?;
        let known = sums(&table, &bias, bags(boards.iter()))?;
        let found = selected_sums(&table, &bias, &bags(boards.iter()))?;
        Ok(assert_agree(&found, &known, &[&table, &bias], [1e-4; 2])?)
    }
}
