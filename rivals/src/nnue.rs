//! The NNUE (seed document 004, section 2.3.5): HalfKP, with 40,960 features a side. Both sides
//! share a layer of 256 neurons; layers of 32, 32 and 1 follow, with clipped ReLU. It plays with
//! quantised weights and incrementally updated sums, under alpha-beta.
//!
//! The features of a position, the network in floats, and its training: the squared error of the
//! win probability of the side to move, with AdamW. The trained network is quantised.
//!
//! The network for play, quantised: 16-bit sums, and layers of 8-bit weights times 7-bit
//! activations. Each table has the largest scale that fits its integer type. A weights file holds
//! the integers and the scales. The evaluation updates the sums from position to position.

use std::collections::HashMap;
use std::iter::repeat_n;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use azimuth_network::embedding_bag::{Bags, sums};
use azimuth_search::Planner;
use azimuth_search::inference::{EvaluateOne, PositionKey};
use candle_core::{DType, Device, Module, Tensor, WithDType};
use candle_nn::loss::mse;
use candle_nn::ops::sigmoid;
use candle_nn::{Init, Linear, VarBuilder, linear};
use cozy_chess::{Board, Color, Piece, Square};
use serde::{Deserialize, Serialize};

use crate::board::{PIECES, for_side};
use crate::network::clipped_relu;
use crate::planners::{AlphaBeta, DEFAULT_DEPTH};
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions, TrainingStep};
use crate::value::value_metrics;
use crate::weights::RivalWeights;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NnueConfig {
    /// Neurons of the first layer for each side.
    half: usize,
    /// Neurons of the second layer, which takes both sides' outputs.
    first: usize,
    /// Neurons of the third layer.
    second: usize,
}

/// Maps positions to the logit of the side to move's win probability.
struct NnueNetwork {
    table: Tensor,
    bias: Tensor,
    layers: [Linear; 3],
}

impl NnueNetwork {
    /// A network with the parameters `half.weight`, `half.bias`, `first`, `second` and `value`.
    fn new(config: NnueConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        let NnueConfig { half, first, second } = config;
        // The values are small because about 30 rows are summed.
        let rows = Init::Randn { mean: 0.0, stdev: 0.05 };
        Ok(Self {
            table: vb.get_with_hints((FEATURES, half), "half.weight", rows)?,
            bias: vb.get_with_hints(half, "half.bias", Init::Const(0.3))?,
            layers: [
                linear(2 * half, first, vb.pp("first"))?,
                linear(first, second, vb.pp("second"))?,
                linear(second, 1, vb.pp("value"))?,
            ],
        })
    }

    fn logits<'a>(
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

const FEATURES: usize = Square::NUM * Square::NUM * KINDS;

/// The kinds of one side's pieces, in the order of their indices.
const KINDS_OF_A_SIDE: [Piece; KINDS / 2] = [PIECES[0], PIECES[1], PIECES[2], PIECES[3], PIECES[4]];

/// The perspective of a side with its king on a given square.
#[derive(Clone, Copy)]
struct View {
    side: Color,
    king: usize,
}

impl View {
    fn of(board: &Board, side: Color) -> Self {
        Self { side, king: board.king(side).relative_to(side) as usize }
    }

    /// The feature index of a piece on a square; `kind` is an index into [`KINDS_OF_A_SIDE`].
    fn feature(self, color: Color, kind: usize, square: Square) -> usize {
        let kind = if color == self.side { kind } else { kind + KINDS / 2 };
        (self.king * Square::NUM + square.relative_to(self.side) as usize) * KINDS + kind
    }
}

/// Visits the active features of a side.
fn active(board: &Board, side: Color, mut visit: impl FnMut(usize)) {
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
fn bags<'a>(boards: impl Iterator<Item = &'a Board>) -> Bags {
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

/// The integer that represents 1 in the activations.
const ONE: f32 = 127.0;

/// Upper bound on the number of addends in a sum: the rows and the bias.
const ADDENDS: f32 = 31.0;

/// The largest scale of the table; a finer one does not improve play.
const FINEST_TABLE: f32 = 1024.0;

const LAYERS: [&str; 3] = ["first", "second", "value"];

fn quantise(weights: RivalWeights) -> Result<RivalWeights> {
    let mut integers = HashMap::new();
    let [table, bias] = [weights.tensor("half.weight")?, weights.tensor("half.bias")?];
    let largest_row = f32::max(largest(table)?, largest(bias)?);
    let scale = (f32::from(i16::MAX) / (ADDENDS * largest_row)).min(FINEST_TABLE);
    integers.insert("half.weight".to_owned(), scaled(table, scale, DType::I16)?);
    integers.insert("half.bias".to_owned(), scaled(bias, scale, DType::I16)?);
    integers.insert("half.scale".to_owned(), bits(scale)?);
    for name in LAYERS {
        let [weight, bias] =
            ["weight", "bias"].map(|part| weights.tensor(&format!("{name}.{part}")));
        let (weight, bias) = (weight?, bias?);
        let scale = f32::from(i8::MAX) / largest(weight)?;
        integers.insert(format!("{name}.weight"), scaled(weight, scale, DType::I16)?);
        // A bias is added to products of weights and activations, so it has both their scales.
        integers.insert(format!("{name}.bias"), scaled(bias, scale * ONE, DType::I32)?);
        integers.insert(format!("{name}.scale"), bits(scale)?);
    }
    Ok(RivalWeights { metadata: weights.metadata, tensors: integers })
}

fn scaled(tensor: &Tensor, scale: f32, dtype: DType) -> Result<Tensor> {
    Ok((tensor * f64::from(scale))?.round()?.to_dtype(DType::I64)?.to_dtype(dtype)?)
}

fn bits(scale: f32) -> Result<Tensor> {
    Ok(Tensor::new(&[scale.to_bits()], &Device::Cpu)?)
}

fn largest(tensor: &Tensor) -> Result<f32> {
    Ok(tensor.abs()?.max_all()?.to_scalar::<f32>()?.max(f32::MIN_POSITIVE))
}

struct QuantisedNnue {
    /// Neurons of the first layer for each side.
    half: usize,
    table: Vec<i16>,
    bias: Vec<i16>,
    /// The integer that represents 1 in the sums.
    one: f32,
    layers: [Layer; 3],
}

struct Layer {
    inputs: usize,
    weights: Vec<i16>,
    biases: Vec<i32>,
    /// The integer that represents 1 in the products.
    one: f32,
}

/// The numbers of a tensor. Fails if they have another type, or are not `count`.
fn numbers<T: WithDType>(weights: &RivalWeights, name: &str, count: usize) -> Result<Vec<T>> {
    let numbers = weights.tensor(name)?.flatten_all()?.to_vec1();
    let numbers: Vec<T> = numbers.with_context(|| format!("'{name}'"))?;
    ensure!(numbers.len() == count, "'{name}' has {} numbers, expected {count}", numbers.len());
    Ok(numbers)
}

impl QuantisedNnue {
    /// Reads the integers. Fails if a tensor is missing or has the wrong shape.
    fn new(weights: &RivalWeights) -> Result<Self> {
        let NnueConfig { half, first, second } = weights.config()?;
        let scale = |name: &str| -> Result<f32> {
            Ok(f32::from_bits(numbers(weights, &format!("{name}.scale"), 1)?[0]))
        };
        let layer = |name: &str, inputs: usize, outputs: usize| -> Result<Layer> {
            Ok(Layer {
                inputs,
                weights: numbers(weights, &format!("{name}.weight"), inputs * outputs)?,
                biases: numbers(weights, &format!("{name}.bias"), outputs)?,
                one: scale(name)? * ONE,
            })
        };
        let [one, two, three] = LAYERS;
        Ok(Self {
            half,
            table: numbers(weights, "half.weight", FEATURES * half)?,
            bias: numbers(weights, "half.bias", half)?,
            one: scale("half")?,
            layers: [
                layer(one, 2 * half, first)?,
                layer(two, first, second)?,
                layer(three, second, 1)?,
            ],
        })
    }

    fn row(&self, feature: usize) -> &[i16] {
        &self.table[feature * self.half..][..self.half]
    }

    /// The sums of a side.
    fn sums(&self, board: &Board, side: Color) -> Vec<i16> {
        let mut sums = self.bias.clone();
        active(board, side, |feature| add_row(self.row(feature), &mut sums));
        sums
    }

    /// The win probability of the side to move, from its sums and the other side's.
    fn win_probability(&self, own: &[i16], other: &[i16]) -> f32 {
        let mut activations = vec![0; 2 * self.half];
        for (sums, activations) in [own, other].into_iter().zip(activations.chunks_mut(self.half)) {
            activate(sums, self.one, activations);
        }
        let [first, second, value] = &self.layers;
        let activations = second.activations(&first.activations(&activations));
        let logit = value.outputs(&activations).next().unwrap_or_default();
        1.0 / (1.0 + (-logit).exp())
    }
}

impl Layer {
    fn outputs(&self, inputs: &[i16]) -> impl Iterator<Item = f32> {
        let rows = self.weights.chunks_exact(self.inputs).zip(&self.biases);
        rows.map(move |(row, &bias)| (dot(row, inputs) + bias) as f32 / self.one)
    }

    fn activations(&self, inputs: &[i16]) -> Vec<i16> {
        self.outputs(inputs).map(activation).collect()
    }
}

/// Clipped ReLU, scaled so that [`ONE`] represents 1, and rounded. (`f32::round` is a function call
/// on processors that lack SSE4.1, for which this program is built.)
#[inline(always)]
fn activation(x: f32) -> i16 {
    (x.clamp(0.0, 1.0) * ONE + 0.5) as i16
}

/// The activations of sums in which `one` represents 1.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn activate(sums: &[i16], one: f32, activations: &mut [i16]) {
    let scale = 1.0 / one;
    for (to, &sum) in activations.iter_mut().zip(sums) {
        *to = activation(f32::from(sum) * scale);
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn add_row(row: &[i16], sums: &mut [i16]) {
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum = sum.wrapping_add(*value));
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn subtract_row(row: &[i16], sums: &mut [i16]) {
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum = sum.wrapping_sub(*value));
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

pub fn planner(weights: &RivalWeights, remembered: usize) -> Result<Box<dyn Planner>> {
    let nnue = Nnue::new(QuantisedNnue::new(weights)?.into(), Board::startpos());
    Ok(Box::new(AlphaBeta::new(nnue, |_| DEFAULT_DEPTH, remembered)?))
}

/// The position that was evaluated last, with White's and Black's sums. In a search, the next one
/// differs by a few moves.
#[derive(Clone)]
struct Nnue {
    network: Arc<QuantisedNnue>,
    board: Board,
    sums: [Vec<i16>; Color::NUM],
}

impl Nnue {
    fn new(network: Arc<QuantisedNnue>, board: Board) -> Self {
        let sums = Color::ALL.map(|side| network.sums(&board, side));
        Self { network, board, sums }
    }
}

impl EvaluateOne for Nnue {
    fn key(&self) -> PositionKey {
        PositionKey::WithoutEnPassant
    }

    fn evaluate(&mut self, after: &Board) -> Result<f32> {
        let network = &*self.network;
        for (side, sums) in Color::ALL.into_iter().zip(&mut self.sums) {
            if self.board.king(side) != after.king(side) {
                *sums = network.sums(after, side);
                continue;
            }
            let view = View::of(after, side);
            for color in Color::ALL {
                for (kind, piece) in KINDS_OF_A_SIDE.into_iter().enumerate() {
                    let [old, new] = [&self.board, after].map(|b| b.colored_pieces(color, piece));
                    for square in old - new {
                        subtract_row(network.row(view.feature(color, kind, square)), sums);
                    }
                    for square in new - old {
                        add_row(network.row(view.feature(color, kind, square)), sums);
                    }
                }
            }
        }
        self.board = after.clone();
        let own = after.side_to_move();
        let p = network.win_probability(&self.sums[own as usize], &self.sums[!own as usize]);
        Ok(2.0 * p - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use azimuth_chess::position::{board_after, legal_moves};
    use candle_core::Var;
    use candle_nn::VarMap;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::network::assert_agree;
    use crate::weights::{Metadata, first_parameters, named};

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

    /// A small untrained network, in floats and in integers.
    fn networks() -> Result<(NnueNetwork, QuantisedNnue)> {
        let config = NnueConfig { half: 16, first: 8, second: 8 };
        let parameters = VarMap::new();
        let vb = first_parameters(&parameters, 1, &Device::Cpu);
        let network = NnueNetwork::new(config, &vb)?;
        let metadata = Metadata { config: serde_json::to_value(config)?, ..Metadata::default() };
        let tensors = named(&parameters)?.into_iter();
        let tensors = tensors.map(|(name, var)| (name, var.into_inner())).collect();
        Ok((network, QuantisedNnue::new(&quantise(RivalWeights { metadata, tensors })?)?))
    }

    #[test]
    fn updated_sums_equal_fresh_ones_and_integers_are_near_the_floats() -> Result<()> {
        let (floats, integers) = networks()?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut nnue = Nnue::new(integers.into(), Board::startpos());
        // Enough moves to include castling, promotions and captures en passant.
        for game in 0..30 {
            let mut board = match game % 2 {
                0 => Board::startpos(),
                _ => "r3k2r/1P3ppp/8/2pPp3/8/8/p5PP/R3K2R w KQkq c6 0 1".parse().expect("valid"),
            };
            for _ in 0..60 {
                let moves = legal_moves(&board);
                if moves.is_empty() {
                    break;
                }
                board = board_after(&board, moves[rng.random_range(0..moves.len())]);
                nnue.evaluate(&board)?;
                let fresh = Color::ALL.map(|side| nnue.network.sums(&board, side));
                assert_eq!(nnue.sums, fresh, "{board}");
            }
            let known = sigmoid(&floats.logits([&board].into_iter())?)?.to_vec1::<f32>()?[0];
            let found = (nnue.evaluate(&board)? + 1.0) / 2.0;
            assert!((found - known).abs() < 0.01, "{found} {known}");
        }
        Ok(())
    }
}
