//! Training: the squared error of the win probability of the side to move, with AdamW. The trained
//! network is quantised.

use anyhow::Result;
use candle_core::Tensor;
use candle_nn::loss::mse;
use candle_nn::ops::sigmoid;
use cozy_chess::{Board, Color};

use super::model::{NnueConfig, NnueNetwork};
use super::quantised::quantise;
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions, TrainingStep};
use crate::value::value_metrics;

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

/// Trains the network and writes its quantised weights.
pub fn train(options: &TrainOptions) -> Result<()> {
    let mut lesson = Lesson::read("nnue", options, DOCUMENT, SMALL)?;
    lesson.finish = quantise;
    let mut network = NnueNetwork::new(lesson.config, &lesson.vb())?;
    crate::training::train(options, &lesson, &mut network)
}

impl Learner<NnueConfig> for NnueNetwork {
    fn loss(&mut self, step: &mut TrainingStep<'_, NnueConfig>) -> Result<Tensor> {
        let studies = step.sample(step.lesson.plan.batch);
        let children = studies.iter().map(|study| study.child(&mut step.rng));
        let (boards, labels): (Vec<Board>, Vec<f32>) = children.unzip();
        let own = |(board, p): (&Board, f32)| if is_white(board) { p } else { 1.0 - p };
        let labels: Vec<f32> = boards.iter().zip(labels).map(own).collect();
        let logits = self.logits(boards.iter())?;
        let labels = Tensor::from_vec(labels, boards.len(), logits.device())?;
        Ok(mse(&sigmoid(&logits)?, &labels)?)
    }

    fn measure(&mut self, lesson: &Lesson<NnueConfig>) -> Result<Metrics> {
        value_metrics(&lesson.studies.held_out, |_, boards| {
            let own = sigmoid(&self.logits(boards.iter())?)?.to_vec1::<f32>()?;
            let of_white = |(board, p): (&Board, f32)| {
                let value = 2.0 * p - 1.0;
                if is_white(board) { value } else { -value }
            };
            Ok(boards.iter().zip(own).map(of_white).collect())
        })
    }
}

fn is_white(board: &Board) -> bool {
    board.side_to_move() == Color::White
}
