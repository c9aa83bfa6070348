//! Training: the squared error of the win probability of the side to move, with AdamW. The trained
//! network is quantised.

use anyhow::Result;
use candle_core::Tensor;
use candle_nn::loss::mse;
use candle_nn::ops::sigmoid;
use cozy_chess::{Board, Color};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::{NnueConfig, NnueNetwork};
use super::quantised::quantise;
use crate::studies::Studies;
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions};
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
    let lesson = Lesson::read("nnue", options, DOCUMENT, SMALL)?.finished_by(quantise);
    let network = NnueNetwork::new(lesson.config, &lesson.vb())?;
    let mut learner = NnueLearner { network, studies: &lesson.studies, plan: lesson.plan };
    crate::training::train(options, &lesson, &mut learner)
}

struct NnueLearner<'a> {
    network: NnueNetwork,
    studies: &'a Studies,
    plan: Plan,
}

impl Learner for NnueLearner<'_> {
    fn loss(&mut self, _step: u64, rng: &mut Xoshiro256PlusPlus) -> Result<Tensor> {
        let studies = self.studies.sample(self.plan.batch, rng);
        let children = studies.iter().map(|study| study.child(rng));
        let (boards, labels): (Vec<Board>, Vec<f32>) = children.unzip();
        let own = |(board, p): (&Board, f32)| if is_white(board) { p } else { 1.0 - p };
        let labels: Vec<f32> = boards.iter().zip(labels).map(own).collect();
        let logits = self.network.logits(boards.iter())?;
        let labels = Tensor::from_vec(labels, boards.len(), logits.device())?;
        Ok(mse(&sigmoid(&logits)?, &labels)?)
    }

    fn measure(&mut self) -> Result<Metrics> {
        value_metrics(&self.studies.held_out, |_, boards| {
            let own = sigmoid(&self.network.logits(boards.iter())?)?.to_vec1::<f32>()?;
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
