//! Training: cross-entropy on the best of the labelled moves, with Adam.

use anyhow::Result;
use candle_core::{D, Tensor};
use candle_nn::loss::cross_entropy;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::PolicyNetwork;
use crate::board::{move_index, viewer};
use crate::network::TowerConfig;
use crate::studies::{MEASURED_AT_ONCE, Studies, Study};
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions};

/// The document shows the tower's sizes in a picture that is missing; these are common ones. The
/// rest is the document's plan: 20 epochs of 6.7 million positions, in batches of 512.
const DOCUMENT: (TowerConfig, Plan) = (
    TowerConfig { blocks: 10, channels: 128, oriented: false },
    Plan { batch: 512, steps: 262_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

const SMALL: (TowerConfig, Plan) = (
    TowerConfig { blocks: 4, channels: 32, oriented: true },
    Plan { batch: 128, steps: 6_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

/// Trains the network and writes its weights.
pub fn train(options: &TrainOptions) -> Result<()> {
    let lesson = Lesson::read("policy", options, DOCUMENT, SMALL)?;
    let network = PolicyNetwork::new(lesson.config, &lesson.vb())?;
    let mut learner = PolicyLearner { network, studies: &lesson.studies, plan: lesson.plan };
    crate::training::train(options, &lesson, &mut learner)
}

struct PolicyLearner<'a> {
    network: PolicyNetwork,
    studies: &'a Studies,
    plan: Plan,
}

impl Learner for PolicyLearner<'_> {
    fn loss(&mut self, _step: u64, rng: &mut Xoshiro256PlusPlus) -> Result<Tensor> {
        let studies = self.studies.sample(self.plan.batch, rng);
        let logits = self.network.logits(studies.iter().map(|study| &study.board))?;
        policy_loss(&logits, &studies, self.network.oriented())
    }

    fn measure(&mut self) -> Result<Metrics> {
        policy_metrics(&self.studies.held_out, self.network.oriented(), |boards| {
            Ok(self.network.logits(boards.iter().copied())?)
        })
    }
}

/// The mean cross-entropy of the logits on the best labelled moves.
pub fn policy_loss(logits: &Tensor, studies: &[&Study], oriented: bool) -> Result<Tensor> {
    let best = studies.iter().map(|study| best_index(study, oriented) as u32);
    let best = Tensor::from_vec(best.collect(), studies.len(), logits.device())?;
    Ok(cross_entropy(logits, &best)?)
}

/// The index of the best labelled move.
fn best_index(study: &Study, oriented: bool) -> usize {
    move_index(&study.board, study.best().0, viewer(&study.board, oriented))
}

/// Held-out cross-entropy, and the share of positions in which the largest logit is that of the
/// best labelled move.
pub fn policy_metrics(
    held_out: &[Study],
    oriented: bool,
    logits: impl Fn(&[&cozy_chess::Board]) -> Result<Tensor>,
) -> Result<Metrics> {
    let (mut loss, mut right) = (0.0, 0.0);
    for studies in held_out.chunks(MEASURED_AT_ONCE) {
        let studies: Vec<&Study> = studies.iter().collect();
        let boards: Vec<_> = studies.iter().map(|study| &study.board).collect();
        let logits = logits(&boards)?;
        loss += f64::from(policy_loss(&logits, &studies, oriented)?.to_scalar::<f32>()?)
            * studies.len() as f64;
        let largest = logits.argmax(D::Minus1)?.to_vec1::<u32>()?;
        let is_best =
            |(study, largest): (&&Study, u32)| best_index(study, oriented) == largest as usize;
        right += studies.iter().zip(largest).filter(|&(s, l)| is_best((s, l))).count() as f64;
    }
    let count = held_out.len() as f64;
    Ok(vec![("cross_entropy", loss / count), ("best_move", right / count)])
}
