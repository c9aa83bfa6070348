//! Workers for the tests of the planners.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use anyhow::{Result, bail};
use azimuth_network::axis::{Axis, Direction};
use azimuth_network::calibration::Calibration;
use azimuth_network::parameters::Parameters;
use azimuth_network::transformer::TransformerConfig;
use azimuth_network::weights::{Metadata, Weights};
use azimuth_network::{Architecture, Inputs};
use candle_core::{DType, Device, Tensor};
use cozy_chess::Board;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::DefaultWeights;
use crate::encoder::{self, Attributes, EncodeError, Encoder, Scores};
use crate::inference::{EvaluateOne, Worker};

/// A worker that evaluates on the threads of the search.
pub fn local(which: DefaultWeights) -> Result<Worker> {
    Worker::on_cpu(which.weights()?, |_| ())
}

/// A worker with the same encoder on another thread, as on a device.
pub fn remote(which: DefaultWeights) -> Result<Worker> {
    let weights = Arc::new(which.weights()?);
    let encoder = Remote(encoder::build(&weights, &Device::Cpu, DType::F32)?);
    Worker::with_encoder(weights, Box::new(encoder), true, |_| ())
}

/// A worker with a tiny transformer of random parameters.
pub fn transformer() -> Result<Worker> {
    let config = TransformerConfig { layers: 1, hidden: 16, heads: 2, mlp: 16, embedding_dim: 8 };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut parameters = Vec::new();
    for spec in config.parameters() {
        let count: usize = spec.shape.iter().product();
        let values: Vec<f32> = (0..count).map(|_| rng.random_range(-0.8..0.8)).collect();
        parameters.push((spec.name, Tensor::from_vec(values, spec.shape, &Device::Cpu)?));
    }
    let architecture = Architecture::Transformer(config);
    let (training, metrics) = Default::default();
    let weights = Weights {
        metadata: Metadata::new(architecture, Direction::Mates, training, metrics),
        parameters: Parameters::new(parameters),
        axis: Axis::new(vec![1.0; 8], vec![0.0; 8], None, Direction::Mates)?,
        calibration: Calibration::new(vec![-1.0, 1.0], vec![0.0, 1.0])?,
    };
    Worker::on_cpu(weights, |_| ())
}

struct Remote(Box<dyn Encoder>);

impl Encoder for Remote {
    fn attributes(&self) -> Attributes {
        Attributes { recommended_batch: 100, ..self.0.attributes() }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>, EncodeError> {
        self.0.encode(inputs)
    }

    fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
        self.0.begin(inputs)
    }
}

/// A worker whose evaluations fail after the next `left` ones, until `left` is raised. Its values
/// depend only on the position.
pub fn failing(left: &Arc<AtomicU64>) -> Worker {
    let left = left.clone();
    Worker::with_evaluator(move || Failing(left.clone()), |_| ())
}

struct Failing(Arc<AtomicU64>);

impl EvaluateOne for Failing {
    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let spent = self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        if spent.is_err() {
            bail!("the evaluator failed");
        }
        Ok((board.hash() % 2001) as f32 / 1000.0 - 1.0)
    }
}
