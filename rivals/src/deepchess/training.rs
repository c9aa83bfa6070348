//! Training: first the encoder, layer by layer, each to reconstruct its input. Then the comparator,
//! and the encoder with it, on pairs of positions of which one is better, or on the scores of
//! positions and their successors.

use anyhow::Result;
use candle_core::{D, DType, Module, Tensor};
use candle_nn::{VarBuilder, loss::cross_entropy, loss::mse};
use cozy_chess::Board;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bits::BITS;
use super::model::{DeepChessConfig, DeepChessNetwork};
use super::pairs::Pairs;
use crate::network::{Linear, linear};
use crate::studies::Studies;
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions};
use crate::value::{Labelled, labelled, value_metrics};
use crate::weights::RivalWeights;

/// The share of the training steps spent on the encoder's layers, divided evenly among them.
const ENCODER_PART: f64 = 0.2;

/// Number of pairs for measuring metrics.
const MEASURED: usize = 4_000;

/// Prefix of the decoders' parameters, which are dropped after training.
const DECODER: &str = "decoder";

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

/// Trains the networks and writes their weights.
pub fn train(options: &TrainOptions) -> Result<()> {
    let lesson = Lesson::read("deepchess", options, document(), small())?;
    let lesson = lesson.finished_by(without_decoders);
    let mut learner = DeepChessLearner {
        network: DeepChessNetwork::new(&lesson.config, &lesson.vb())?,
        decoders: decoders(&lesson.config, &lesson.vb().pp(DECODER))?,
        studies: &lesson.studies,
        plan: lesson.plan,
        score: lesson.config.score,
    };
    crate::training::train(options, &lesson, &mut learner)
}

/// A decoder for each encoder layer.
fn decoders(config: &DeepChessConfig, vb: &VarBuilder<'_>) -> Result<Vec<Linear>> {
    let befores = std::iter::once(BITS).chain(config.encoder.iter().copied());
    let pairs = config.encoder.iter().zip(befores).enumerate();
    Ok(pairs
        .map(|(place, (&after, before))| linear(after, before, &vb.pp(place)))
        .collect::<candle_core::Result<_>>()?)
}

fn without_decoders(mut weights: RivalWeights) -> Result<RivalWeights> {
    weights.tensors.retain(|name, _| !name.starts_with(DECODER));
    Ok(weights)
}

struct DeepChessLearner<'a> {
    network: DeepChessNetwork,
    decoders: Vec<Linear>,
    studies: &'a Studies,
    plan: Plan,
    score: bool,
}

impl DeepChessLearner<'_> {
    /// The encoder layer that a step trains; `None` once all are trained.
    fn layer(&self, step: u64) -> Option<usize> {
        let each = ENCODER_PART * self.plan.steps as f64 / self.network.depth() as f64;
        let layer = (step as f64 / each) as usize;
        (layer < self.network.depth()).then_some(layer)
    }

    fn reconstruction(&self, layer: usize, boards: &[Board]) -> Result<Tensor> {
        let before = self.network.encode(boards.iter(), layer)?.detach();
        let code = self.network.layer(layer, &before)?;
        Ok(mse(&self.decoders[layer].forward(&code)?, &before)?)
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

    /// The scores of successors of positions.
    fn scores(&self, boards: &[&Board], successors: &[Board]) -> Result<Tensor> {
        let current = self.network.codes(boards.iter().copied())?;
        let next = self.network.codes(successors.iter())?;
        Ok(self.network.scores(&current, &next)?)
    }

    fn measure_comparison(&self) -> Result<Metrics> {
        // The same pairs at every measurement.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let pairs = Pairs::draw(&self.studies.held_out, MEASURED, &mut rng);
        let [logits, better] = self.comparison(&pairs)?;
        let loss = cross_entropy(&logits, &better)?.to_scalar::<f32>()?;
        let right = logits.argmax(D::Minus1)?.eq(&better)?.to_dtype(DType::F32)?.mean_all()?;
        Ok(vec![("cross_entropy", loss.into()), ("right", right.to_scalar::<f32>()?.into())])
    }
}

impl Learner for DeepChessLearner<'_> {
    fn loss(&mut self, step: u64, rng: &mut Xoshiro256PlusPlus) -> Result<Tensor> {
        if let Some(layer) = self.layer(step) {
            let studies = self.studies.sample(self.plan.batch, rng);
            let boards: Vec<Board> = studies.iter().map(|study| study.board.clone()).collect();
            return self.reconstruction(layer, &boards);
        }
        if self.score {
            let studies = self.studies.sample(self.plan.batch, rng);
            let Labelled { boards, successors, values } = labelled(studies.into_iter(), rng);
            let scores = self.scores(&boards, &successors)?;
            let values = Tensor::from_vec(values, boards.len(), scores.device())?;
            return Ok(mse(&scores, &values)?);
        }
        let pairs = Pairs::draw(&self.studies.training, self.plan.batch, rng);
        let [logits, better] = self.comparison(&pairs)?;
        Ok(cross_entropy(&logits, &better)?)
    }

    fn measure(&mut self) -> Result<Metrics> {
        if !self.score {
            return self.measure_comparison();
        }
        value_metrics(&self.studies.held_out, |boards, successors| {
            Ok(self.scores(boards, successors)?.to_vec1()?)
        })
    }
}
