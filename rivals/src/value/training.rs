//! Training: mean squared error to the labels, with Adam.

use anyhow::Result;
use azimuth_train::metrics::kendall_tau_b;
use candle_core::Tensor;
use candle_nn::loss::mse;
use cozy_chess::Board;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::{ValueConfig, ValueNetwork};
use crate::studies::{MEASURED_AT_ONCE, Studies, Study};
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions};

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

/// Trains the network and writes its weights.
pub fn train(options: &TrainOptions) -> Result<()> {
    let lesson = Lesson::read("value", options, DOCUMENT, SMALL)?;
    let network = ValueNetwork::new(lesson.config, &lesson.vb())?;
    let mut learner = ValueLearner { network, studies: &lesson.studies, plan: lesson.plan };
    crate::training::train(options, &lesson, &mut learner)
}

struct ValueLearner<'a> {
    network: ValueNetwork,
    studies: &'a Studies,
    plan: Plan,
}

impl Learner for ValueLearner<'_> {
    fn loss(&mut self, _step: u64, rng: &mut Xoshiro256PlusPlus) -> Result<Tensor> {
        let studies = self.studies.sample(self.plan.batch, rng);
        let Labelled { successors, values: labels, .. } = labelled(studies.into_iter(), rng);
        let values = self.network.values(successors.iter())?;
        let labels = Tensor::from_vec(labels, successors.len(), values.device())?;
        Ok(mse(&values, &labels)?)
    }

    fn measure(&mut self) -> Result<Metrics> {
        value_metrics(&self.studies.held_out, |_, boards| {
            Ok(self.network.values(boards.iter())?.to_vec1()?)
        })
    }
}

/// Positions, a labelled successor of each, and its value for White in [-1, 1].
pub struct Labelled<'a> {
    pub boards: Vec<&'a Board>,
    pub successors: Vec<Board>,
    pub values: Vec<f32>,
}

/// A random labelled child of each study.
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
