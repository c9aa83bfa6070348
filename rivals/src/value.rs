//! The evaluation-only network (seed document 004, section 2.3.4): a residual tower that predicts
//! the value of positions, under alpha-beta. The search depth increases as pieces leave the board.

use anyhow::{Context, Result};
use azimuth_search::Planner;
use azimuth_search::inference::{EvaluateOne, PositionKey};
use azimuth_train::metrics::kendall_tau_b;
use candle_core::{Device, Module, Tensor};
use candle_nn::VarBuilder;
use candle_nn::loss::mse;
use cozy_chess::Board;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::board::{for_side, planes, signs};
use crate::network::{BoardConvolution, ResidualTower, ValueHead};
use crate::planners::AlphaBeta;
use crate::training::{
    Learner, Lesson, MEASURED_AT_ONCE, Metrics, Plan, Study, TrainOptions, TrainingStep,
};
use crate::weights::RivalWeights;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueConfig {
    pub blocks: usize,
    pub channels: usize,
    /// Channels of the convolution after the blocks.
    pub last_channels: usize,
    /// Whether the inputs and the output are those of the side to move, instead of White's.
    #[serde(default)]
    pub oriented: bool,
}

#[derive(Clone)]
pub struct ValueNetwork {
    tower: ResidualTower,
    last: BoardConvolution,
    value: ValueHead,
    oriented: bool,
}

impl ValueNetwork {
    /// A network with the parameters `tower`, `last` and `value`.
    pub fn new(config: ValueConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        let ValueConfig { blocks, channels, last_channels, oriented } = config;
        Ok(Self {
            tower: ResidualTower::new(blocks, channels, &vb.pp("tower"))?,
            last: BoardConvolution::new(channels, last_channels, vb.pp("last"))?,
            value: ValueHead::new(last_channels, &vb.pp("value"))?,
            oriented,
        })
    }

    /// The value of positions for White, in [-1, 1].
    pub fn values<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board> + Clone,
    ) -> candle_core::Result<Tensor> {
        let device = self.tower.device();
        let signs = signs(boards.clone(), self.oriented, device)?;
        let boards = self.tower.forward(&planes(boards, self.oriented, device)?)?;
        self.value.forward(&self.last.forward(&boards)?.relu()?)? * signs
    }
}

pub fn planner(
    weights: &RivalWeights,
    device: &Device,
    remembered: usize,
) -> Result<Box<dyn Planner>> {
    let network = ValueNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(AlphaBeta::new(network, depth, remembered)?))
}

/// Default depth in plies. It increases as pieces leave the board, because wins in endgames need a
/// deeper search. The document says that the depth depends on the number of pieces, but not how.
fn depth(board: &Board) -> u32 {
    match board.occupied().len() {
        0..=5 => 5,
        6..=12 => 4,
        13..=22 => 3,
        _ => 2,
    }
}

impl EvaluateOne for ValueNetwork {
    fn key(&self) -> PositionKey {
        PositionKey::WithClocks
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let values = self.values([board].into_iter())?.to_vec1()?;
        let of_white: f32 = *values.first().context("the network says nothing")?;
        Ok(for_side(board.side_to_move(), of_white))
    }
}

/// The document shows the sizes in a picture that is missing; these are common ones. The rest is
/// the document's plan: 15 epochs of 10 million positions, in batches of 512.
const DOCUMENT: (ValueConfig, Plan) = (
    ValueConfig { blocks: 10, channels: 128, last_channels: 256, oriented: false },
    Plan { batch: 512, steps: 293_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

const SMALL: (ValueConfig, Plan) = (
    ValueConfig { blocks: 3, channels: 32, last_channels: 64, oriented: true },
    Plan { batch: 128, steps: 30_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

pub fn train(options: &TrainOptions) -> Result<()> {
    let (lesson, config) = Lesson::read("value", options, DOCUMENT, SMALL)?;
    let mut network = ValueNetwork::new(config, &lesson.vb())?;
    crate::training::train(options, &lesson, &mut network)
}

impl Learner for ValueNetwork {
    fn loss(&mut self, step: &mut TrainingStep<'_>) -> Result<Tensor> {
        let studies = step.sample(step.lesson.plan.batch).into_iter();
        let Labelled { successors, values: labels, .. } = labelled(studies, &mut step.rng);
        let values = self.values(successors.iter())?;
        let labels = Tensor::from_vec(labels, successors.len(), values.device())?;
        Ok(mse(&values, &labels)?)
    }

    fn measure(&mut self, lesson: &Lesson) -> Result<Metrics> {
        value_metrics(&lesson.studies.held_out, |_, boards| {
            Ok(self.values(boards.iter())?.to_vec1()?)
        })
    }
}

/// Positions, a labelled successor of each, and its value for White in [-1, 1].
pub struct Labelled<'a> {
    pub boards: Vec<&'a Board>,
    pub successors: Vec<Board>,
    pub values: Vec<f32>,
}

pub fn labelled<'a>(
    studies: impl Iterator<Item = &'a Study>,
    rng: &mut Xoshiro256PlusPlus,
) -> Labelled<'a> {
    let (mut boards, mut successors, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for study in studies {
        let (child, p) = study.child(rng);
        boards.push(&study.board);
        successors.push(child);
        values.push(2.0 * p - 1.0);
    }
    Labelled { boards, successors, values }
}

/// Held-out mean squared error of values in [-1, 1], and Kendall's tau-b. `values` takes positions
/// and their successors, and returns the values of the successors.
pub fn value_metrics(
    held_out: &[Study],
    mut values: impl FnMut(&[&Board], &[Board]) -> Result<Vec<f32>>,
) -> Result<Metrics> {
    // The same positions at every measurement.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let Labelled { boards, successors, values: labels } = labelled(held_out.iter(), &mut rng);
    let mut found = Vec::with_capacity(boards.len());
    for (boards, successors) in
        boards.chunks(MEASURED_AT_ONCE).zip(successors.chunks(MEASURED_AT_ONCE))
    {
        found.extend(values(boards, successors)?);
    }
    let squares = found.iter().zip(&labels).map(|(a, b)| f64::from(a - b).powi(2));
    let mse = squares.sum::<f64>() / found.len() as f64;
    Ok(vec![("mse", mse), ("tau", kendall_tau_b(&found, &labels))])
}
