//! Workers for the tests of the planners.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use anyhow::{Result, bail};
use azimuth_network::Inputs;
use candle_core::{DType, Device};
use cozy_chess::Board;

use crate::embedded_weights::Embedded;
use crate::encoder::{self, Attributes, Encoder, Scores};
use crate::inference::{Evaluate, EvaluateAttributes, Worker};

/// A worker with embedded weights.
pub(super) fn embedded(which: Embedded) -> Result<Worker> {
    let weights = Arc::new(which.weights()?);
    Worker::start(weights, &Device::Cpu, DType::F32, |_| ())
}

/// A worker with the same encoder on its own thread, as on a device.
pub(super) fn remote(which: Embedded) -> Result<Worker> {
    let weights = Arc::new(which.weights()?);
    let encoder = Remote(encoder::build(&weights, &Device::Cpu, DType::F32)?);
    Worker::with_encoder(weights, Box::new(encoder), true, |_| ())
}

struct Remote(Box<dyn Encoder>);

impl Encoder for Remote {
    fn attributes(&self) -> Attributes {
        Attributes { recommended_batch: 100, ..self.0.attributes() }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
        self.0.encode(inputs)
    }

    fn begin(&mut self, inputs: &Inputs) -> Result<Scores> {
        self.0.begin(inputs)
    }
}

/// A worker that fails once `left` evaluations are done, until there are more. Its values depend on
/// nothing but the position.
pub(super) fn failing(left: &Arc<AtomicU64>) -> Worker {
    let left = left.clone();
    let another = move || Box::new(Failing { left: left.clone(), values: Vec::new() }) as Box<_>;
    Worker::with_evaluate(another, |_| ())
}

struct Failing {
    left: Arc<AtomicU64>,
    values: Vec<f32>,
}

impl Evaluate for Failing {
    fn attributes(&self) -> EvaluateAttributes {
        EvaluateAttributes { immediate: true, recommended_batch: 1 }
    }

    fn key(&self, board: &Board) -> u64 {
        board.hash()
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let spent = self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        if spent.is_err() {
            bail!("the evaluator failed");
        }
        Ok((board.hash() % 2001) as f32 / 1000.0 - 1.0)
    }

    fn enqueue(&mut self, board: &Board) -> Result<()> {
        match self.evaluate(board) {
            Ok(value) => self.values.push(value),
            Err(error) => {
                self.values.clear();
                return Err(error);
            }
        }
        Ok(())
    }

    fn collect(&mut self) -> Result<Vec<f32>> {
        Ok(std::mem::take(&mut self.values))
    }
}
