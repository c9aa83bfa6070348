//! Workers for the tests of the planners.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use anyhow::{Result, bail};
use azimuth_network::Inputs;
use candle_core::{DType, Device};
use cozy_chess::Board;

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
