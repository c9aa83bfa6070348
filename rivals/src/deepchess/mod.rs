//! DeepChess (seed document 003, section 1; David, Netanyahu and Wolf 2016). An autoencoder,
//! trained layer by layer on 773 bits, maps a position to a code. A Siamese network compares two
//! codes and predicts which position is better, and alpha-beta uses these comparisons; or it takes
//! the codes of a position and its successor and gives the score that alpha-beta uses.
//!
//! The networks and their training: first the encoder, layer by layer, each to reconstruct its
//! input. Then the comparator, and the encoder with it, on pairs of positions of which one is
//! better, or on the scores of positions and their successors.

mod search;

use anyhow::Result;
use azimuth_chess::position::board_after;
use azimuth_search::Planner;
use candle_core::{D, DType, Device, Module, Tensor};
use candle_nn::loss::{cross_entropy, mse};
use candle_nn::{Linear, VarBuilder, linear};
use cozy_chess::{Board, Color, Piece, Square};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::board::{bit, castling};
use crate::training::{Learner, Lesson, Metrics, Plan, Study, TrainOptions, TrainingStep};
use crate::value::{Labelled, labelled, value_metrics};
use crate::weights::RivalWeights;
use search::Comparing;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeepChessConfig {
    /// Neurons of each encoder layer after the 773 inputs. The output of the last layer is the
    /// code.
    pub encoder: Vec<usize>,
    /// Neurons of each hidden layer of the comparator, between the two codes and its outputs.
    pub comparator: Vec<usize>,
    /// Whether the comparator takes the current and the next position and gives a score, as the
    /// document draws it. If not, it takes any two positions and predicts which one is better.
    #[serde(default)]
    pub score: bool,
}

pub struct DeepChessNetwork {
    encoder: Vec<Linear>,
    comparator: Vec<Linear>,
    /// As [`DeepChessConfig::score`].
    is_scoring: bool,
    device: Device,
}

impl DeepChessNetwork {
    /// Networks with the parameters `encoder.N` and `comparator.N`.
    pub fn new(config: &DeepChessConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        let code = config.encoder.last().copied().unwrap_or(BITS);
        let outputs = if config.score { 1 } else { 2 };
        let comparator = config.comparator.iter().copied().chain([outputs]);
        Ok(Self {
            encoder: stack(BITS, config.encoder.iter().copied(), &vb.pp("encoder"))?,
            comparator: stack(2 * code, comparator, &vb.pp("comparator"))?,
            is_scoring: config.score,
            device: vb.device().clone(),
        })
    }

    /// The output of the first `layers` encoder layers on boards.
    pub fn encode<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board>,
        layers: usize,
    ) -> candle_core::Result<Tensor> {
        let layers = self.encoder[..layers].iter();
        layers.fold(bits(boards, &self.device), |hidden, layer| layer.forward(&hidden?)?.relu())
    }

    pub fn codes<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board>,
    ) -> candle_core::Result<Tensor> {
        self.encode(boards, self.encoder.len())
    }

    /// The values for White, in [-1, 1], of the positions with the codes `next` (pairs x code).
    /// Each follows by a move from the position with the code in the same row of `current`.
    pub fn scores(&self, current: &Tensor, next: &Tensor) -> candle_core::Result<Tensor> {
        self.compare(current, next)?.squeeze(D::Minus1)?.tanh()
    }

    /// Logits (pairs x 2) that the first and that the second position is better for White; in a
    /// network that scores positions, its output (pairs x 1).
    pub fn compare(&self, first: &Tensor, second: &Tensor) -> candle_core::Result<Tensor> {
        let mut hidden = Tensor::cat(&[first, second], D::Minus1)?;
        for (place, layer) in self.comparator.iter().enumerate() {
            hidden = layer.forward(&hidden)?;
            if place + 1 < self.comparator.len() {
                hidden = hidden.relu()?;
            }
        }
        Ok(hidden)
    }
}

/// Layers with the given numbers of neurons. The parameters of each are named by its index.
fn stack(
    inputs: usize,
    neurons: impl Iterator<Item = usize>,
    vb: &VarBuilder<'_>,
) -> candle_core::Result<Vec<Linear>> {
    let mut before = inputs;
    let layer = |(place, after)| linear(std::mem::replace(&mut before, after), after, vb.pp(place));
    neurons.enumerate().map(layer).collect()
}

pub const BITS: usize = 12 * Square::NUM + 1 + 4;

/// The bits of boards on a device (boards x 773). The order is: White's pawns on a1, b1, ... h8,
/// then its knights, bishops, rooks, queens and king; the same for Black; 1 if White is to move;
/// White's short and long castling rights, then Black's.
pub fn bits<'a>(
    boards: impl ExactSizeIterator<Item = &'a Board>,
    device: &Device,
) -> candle_core::Result<Tensor> {
    let count = boards.len();
    let mut bits = vec![0f32; count * BITS];
    for (board, bits) in boards.zip(bits.chunks_exact_mut(BITS)) {
        for color in [Color::White, Color::Black] {
            for piece in Piece::ALL {
                let plane = (color as usize * Piece::NUM + piece as usize) * Square::NUM;
                for square in board.colored_pieces(color, piece) {
                    bits[plane + square as usize] = 1.0;
                }
            }
        }
        bits[12 * Square::NUM] = bit(board.side_to_move() == Color::White);
        bits[12 * Square::NUM + 1..].copy_from_slice(&castling(board, Color::White));
    }
    Tensor::from_vec(bits, (count, BITS), device)
}

pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = DeepChessNetwork::new(&weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(Comparing::new(network)?))
}

/// The document gives no sizes; these are DeepChess's. It was trained for about 200 epochs of a
/// million positions or pairs.
fn document() -> (DeepChessConfig, Plan) {
    let sizes = DeepChessConfig {
        encoder: vec![600, 400, 200, 100],
        comparator: vec![400, 200, 100],
        score: false,
    };
    let plan =
        Plan { batch: 1_024, steps: 200_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None };
    (sizes, plan)
}

fn small() -> (DeepChessConfig, Plan) {
    let (sizes, plan) = document();
    (sizes, Plan { batch: 512, steps: 24_000, ..plan })
}

pub fn train(options: &TrainOptions) -> Result<()> {
    let (lesson, config) = Lesson::read("deepchess", options, document(), small())?;
    let mut learner = DeepChessLearner {
        network: DeepChessNetwork::new(&config, &lesson.vb())?,
        decoders: decoders(&config, &lesson.vb().pp(DECODER))?,
    };
    crate::training::train(options, &lesson, &mut learner)
}

/// Prefix of the decoders' parameters, which are dropped after training.
const DECODER: &str = "decoder";

fn decoders(config: &DeepChessConfig, vb: &VarBuilder<'_>) -> Result<Vec<Linear>> {
    let befores = std::iter::once(BITS).chain(config.encoder.iter().copied());
    let pairs = config.encoder.iter().zip(befores).enumerate();
    Ok(pairs
        .map(|(place, (&after, before))| linear(after, before, vb.pp(place)))
        .collect::<candle_core::Result<_>>()?)
}

struct DeepChessLearner {
    network: DeepChessNetwork,
    decoders: Vec<Linear>,
}

/// The share of the training steps spent on the encoder's layers, divided evenly among them.
const ENCODER_PART: f64 = 0.2;

/// Number of pairs for measuring metrics.
const MEASURED: usize = 4_000;

impl DeepChessLearner {
    /// The encoder layer that step `index` of `steps` trains; `None` once all are trained.
    fn layer(&self, index: u64, steps: u64) -> Option<usize> {
        let depth = self.network.encoder.len();
        let each = ENCODER_PART * steps as f64 / depth as f64;
        let layer = (index as f64 / each) as usize;
        (layer < depth).then_some(layer)
    }

    /// The logits of pairs, and the index of the better position of each.
    fn comparison(&self, pairs: &Pairs) -> Result<[Tensor; 2]> {
        let codes = self.network.codes(pairs.boards.iter())?;
        let [first, second] = [0, 1].map(|side| {
            let places = pairs.pairs.iter().map(|pair| pair[side]);
            codes.index_select(&Tensor::from_iter(places, codes.device())?, 0)
        });
        let logits = self.network.compare(&first?, &second?)?;
        let better = Tensor::from_iter(pairs.better(), logits.device())?;
        Ok([logits, better])
    }

    fn scores(&self, boards: &[&Board], successors: &[Board]) -> Result<Tensor> {
        let current = self.network.codes(boards.iter().copied())?;
        let next = self.network.codes(successors.iter())?;
        Ok(self.network.scores(&current, &next)?)
    }
}

impl Learner for DeepChessLearner {
    fn loss(&mut self, step: &mut TrainingStep<'_>) -> Result<Tensor> {
        let Lesson { studies, plan, .. } = step.lesson;
        if let Some(layer) = self.layer(step.index, plan.steps) {
            // The layer's code has to reconstruct its inputs.
            let studies = step.sample(plan.batch);
            let boards = studies.iter().map(|study| &study.board);
            let before = self.network.encode(boards, layer)?.detach();
            let code = self.network.encoder[layer].forward(&before)?.relu()?;
            return Ok(mse(&self.decoders[layer].forward(&code)?, &before)?);
        }
        if self.network.is_scoring {
            let studies = step.sample(plan.batch).into_iter();
            let Labelled { boards, successors, values } = labelled(studies, &mut step.rng);
            let scores = self.scores(&boards, &successors)?;
            let values = Tensor::from_vec(values, boards.len(), scores.device())?;
            return Ok(mse(&scores, &values)?);
        }
        let pairs = Pairs::draw(&studies.training, plan.batch, &mut step.rng);
        let [logits, better] = self.comparison(&pairs)?;
        Ok(cross_entropy(&logits, &better)?)
    }

    fn measure(&mut self, lesson: &Lesson) -> Result<Metrics> {
        let held_out = &lesson.studies.held_out;
        if self.network.is_scoring {
            return value_metrics(held_out, |boards, successors| {
                Ok(self.scores(boards, successors)?.to_vec1()?)
            });
        }
        // The same pairs at every measurement.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let pairs = Pairs::draw(held_out, MEASURED, &mut rng);
        let [logits, better] = self.comparison(&pairs)?;
        let loss = cross_entropy(&logits, &better)?.to_scalar::<f32>()?;
        let right = logits.argmax(D::Minus1)?.eq(&better)?.to_dtype(DType::F32)?.mean_all()?;
        Ok(vec![("cross_entropy", loss.into()), ("right", right.to_scalar::<f32>()?.into())])
    }

    fn finish(&self, mut weights: RivalWeights) -> Result<RivalWeights> {
        weights.tensors.retain(|name, _| !name.starts_with(DECODER));
        Ok(weights)
    }
}

/// Smallest difference of the win probabilities in a pair.
const MARGIN: f32 = 0.05;

/// Number of children of one position.
const SIBLINGS: usize = 4;

/// Attempts, per wanted pair, to draw a pair with sufficiently different win probabilities.
const ATTEMPTS: usize = 20;

/// Positions, and pairs of their indices.
#[derive(Default)]
pub struct Pairs {
    pub boards: Vec<Board>,
    /// White's win probability in each position.
    p: Vec<f32>,
    pub pairs: Vec<[u32; 2]>,
}

impl Pairs {
    /// Draws `count` pairs, or fewer if too few positions differ. In half of the pairs both
    /// positions are children of the same position, as when a search chooses. The other pairs are
    /// any two of these children.
    pub fn draw(studies: &[Study], count: usize, rng: &mut impl Rng) -> Self {
        let mut found = Self::default();
        for _ in 0..count {
            if found.pairs.len() >= count / 2 {
                break;
            }
            let Some(study) = studies.choose(rng) else { break };
            found.add_children(study, rng);
        }
        found.pairs.truncate(count / 2);
        for _ in 0..count * ATTEMPTS {
            if found.pairs.len() >= count || found.boards.is_empty() {
                break;
            }
            found.add([0; 2].map(|_| rng.random_range(0..found.boards.len())));
        }
        found
    }

    /// For each pair, 0 if its first position is better for White, 1 if its second position is.
    pub fn better(&self) -> Vec<u32> {
        let p = |place: u32| self.p[place as usize];
        self.pairs.iter().map(|&[first, second]| (p(second) > p(first)).into()).collect()
    }

    fn add_children(&mut self, study: &Study, rng: &mut impl Rng) {
        let first = self.boards.len();
        for &(mv, p) in study.moves.sample(rng, SIBLINGS) {
            self.boards.push(board_after(&study.board, mv));
            self.p.push(p);
        }
        for one in first..self.boards.len() {
            for other in one + 1..self.boards.len() {
                self.add([one, other]);
            }
        }
    }

    /// Adds a pair if its positions differ enough.
    fn add(&mut self, [first, second]: [usize; 2]) {
        if (self.p[first] - self.p[second]).abs() >= MARGIN {
            self.pairs.push([first as u32, second as u32]);
        }
    }
}

#[cfg(test)]
mod tests {
    use azimuth_chess::position::legal_moves;
    use cozy_chess::Move;

    use super::*;

    #[test]
    fn bits_are_those_worked_out_by_hand() -> Result<()> {
        assert_eq!(BITS, 773);
        let board: Board = "4k3/8/8/8/8/8/1P6/R3K3 w Q - 0 1".parse().expect("valid");
        let bits = bits([&board].into_iter(), &Device::Cpu)?.to_vec2::<f32>()?.remove(0);
        let set: Vec<usize> = (0..BITS).filter(|&bit| bits[bit] == 1.0).collect();
        // b2 is square 9 of plane 0, a1 square 0 of plane 3, e1 square 4 of plane 5, e8 square 60
        // of plane 11.
        assert_eq!(set, [9, 3 * 64, 5 * 64 + 4, 11 * 64 + 60, 768, 770]);
        Ok(())
    }

    #[test]
    fn pairs_differ_and_name_the_better_position() {
        let board = Board::startpos();
        let moves: Vec<(Move, f32)> =
            legal_moves(&board).into_iter().zip([0.5, 0.52, 0.6, 0.9]).collect();
        let studies = [Study { board, moves }];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let pairs = Pairs::draw(&studies, 40, &mut rng);
        assert_eq!(pairs.pairs.len(), 40);
        assert!(pairs.boards.len() < 40);
        for (&[first, second], better) in pairs.pairs.iter().zip(pairs.better()) {
            let [p, q] = [first, second].map(|place| pairs.p[place as usize]);
            assert!((p - q).abs() >= MARGIN && better == u32::from(q > p));
        }
        // No two of these differ.
        let [Study { board, moves }] = studies;
        let alike = [Study { board, moves: moves[..2].to_vec() }];
        assert!(Pairs::draw(&alike, 4, &mut rng).pairs.is_empty());
    }
}
