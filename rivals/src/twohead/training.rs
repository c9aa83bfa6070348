//! Training: the sum of the policy's cross-entropy and the value's mean squared error, with Adam;
//! first on labelled games, then on these and self-play. A small machine plays few games. With half
//! of each batch from self-play, the network forgot more than it learned (tau of the held-out
//! values 0.44 before, 0.33 after), so the share is an eighth.

use anyhow::Result;
use azimuth_train::training::Checkpoint;
use candle_core::Tensor;
use candle_nn::loss::mse;
use cozy_chess::Board;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::TwoHeadNetwork;
use super::self_play::{Experience, SelfPlay};
use crate::network::{LegalMoves, TowerConfig};
use crate::policy::{policy_metrics, preferences};
use crate::studies::Studies;
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions};
use crate::value::{Labelled, labelled, value_metrics};

/// The document shows the tower's sizes in a picture that is missing; these are common ones. The
/// rest is the document's plan: 20 epochs of 6.7 million positions, in batches of 512.
const DOCUMENT: (TowerConfig, Plan) = (
    TowerConfig { blocks: 10, channels: 128, oriented: false },
    Plan { batch: 512, steps: 262_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

const SMALL: (TowerConfig, Plan) = (
    TowerConfig { blocks: 4, channels: 32, oriented: true },
    Plan { batch: 128, steps: 12_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

/// The part of the run that uses labelled games only.
const LABELLED_PART: f64 = 0.85;

/// Self-play provides one example of each batch in this number.
const OWN_PART: usize = 8;

/// Steps between two moves in each self-play game.
const STEPS_A_MOVE: u64 = 8;

/// The name of the self-play games in a checkpoint.
const SELF_PLAY: &str = "self_play";

/// Trains the network and writes its weights.
pub fn train(options: &TrainOptions) -> Result<()> {
    let lesson = Lesson::read("twohead", options, DOCUMENT, SMALL)?;
    let network = TwoHeadNetwork::new(lesson.config, &lesson.vb())?;
    let mut learner =
        TwoHeadLearner { network, studies: &lesson.studies, plan: lesson.plan, self_play: None };
    crate::training::train(options, &lesson, &mut learner)
}

struct TwoHeadLearner<'a> {
    network: TwoHeadNetwork,
    studies: &'a Studies,
    plan: Plan,
    self_play: Option<SelfPlay>,
}

impl TwoHeadLearner<'_> {
    /// Continues the self-play games, once that part of the run has started, and samples from them.
    fn experiences(&mut self, step: u64, rng: &mut Xoshiro256PlusPlus) -> Result<Vec<Experience>> {
        if (step as f64) < LABELLED_PART * self.plan.steps as f64 {
            return Ok(Vec::new());
        }
        let starts = &self.studies.training;
        let games = match &mut self.self_play {
            Some(games) => games,
            none => none.insert(SelfPlay::new(starts, rng)?),
        };
        if step.is_multiple_of(STEPS_A_MOVE) {
            games.play(&self.network, starts, rng)?;
        }
        Ok(games.sample(self.plan.batch / OWN_PART, rng).into_iter().cloned().collect())
    }
}

impl Learner for TwoHeadLearner<'_> {
    fn loss(&mut self, step: u64, rng: &mut Xoshiro256PlusPlus) -> Result<Tensor> {
        let own = self.experiences(step, rng)?;
        let with_moves = self.plan.batch.div_ceil(2);
        let studies = self.studies.sample(with_moves - own.len(), rng);
        // The search evaluates positions after poor moves, too.
        let others = self.studies.sample(self.plan.batch - with_moves, rng);
        let Labelled { successors, values: of_successors, .. } = labelled(others.into_iter(), rng);
        let boards = studies.iter().map(|study| &study.board).chain(own.iter().map(|e| &e.board));
        let boards: Vec<&Board> = boards.chain(&successors).collect();
        let [logits, values] = self.network.forward(boards.iter().copied())?;
        let labels = studies.iter().map(|study| 2.0 * study.best().1 - 1.0);
        let labels = labels.chain(own.iter().map(|e| e.value)).chain(of_successors);
        let labels = Tensor::from_vec(labels.collect(), boards.len(), values.device())?;
        let of_values = mse(&values, &labels)?;
        let mut policies = preferences(&studies);
        policies.extend(own.iter().map(|e| e.policy.clone()));
        let boards = &boards[..with_moves];
        let legal = LegalMoves::new(boards, self.network.oriented(), logits.device())?;
        let of_moves = legal.cross_entropy(&logits.narrow(0, 0, with_moves)?, &policies)?;
        Ok((of_moves + of_values)?)
    }

    fn measure(&mut self) -> Result<Metrics> {
        let mut metrics =
            policy_metrics(&self.studies.held_out, self.network.oriented(), |boards| {
                let [logits, _] = self.network.forward(boards.iter().copied())?;
                Ok(logits)
            })?;
        metrics.extend(value_metrics(&self.studies.held_out, |_, boards| {
            let [_, values] = self.network.forward(boards.iter())?;
            Ok(values.to_vec1()?)
        })?);
        Ok(metrics)
    }

    fn save(&self, checkpoint: &mut Checkpoint) -> Result<()> {
        checkpoint.insert_json(SELF_PLAY, &self.self_play)
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.self_play = checkpoint.json(SELF_PLAY)?;
        Ok(())
    }
}
