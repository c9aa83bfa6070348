//! Early stopping: keeps the best parameters, and stops once they no longer improve.

use anyhow::Result;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use candle_core::{Device, Tensor};

use crate::training::{Checkpoint, prefixed};

/// Stops a run whose validation no longer improves, and keeps its best parameters.
pub struct EarlyStopping {
    patience: u64,
    value: f32,
    since_best: u64,
    parameters: Option<Parameters>,
}

impl EarlyStopping {
    /// Stops after `patience` validations without an improvement.
    pub fn new(patience: u64) -> Self {
        Self { patience, value: f32::NEG_INFINITY, since_best: 0, parameters: None }
    }

    /// Records a validation: keeps `parameters` if their `value` is the highest so far.
    pub fn validated(&mut self, value: f32, parameters: &Parameters) {
        if value > self.value {
            (self.value, self.since_best) = (value, 0);
            self.parameters = Some(parameters.clone());
        } else {
            self.since_best += 1;
        }
    }

    /// Whether there was no improvement for `patience` validations.
    pub fn is_over(&self) -> bool {
        self.since_best >= self.patience
    }

    /// The best parameters.
    pub fn parameters(&self) -> Option<&Parameters> {
        self.parameters.as_ref()
    }

    /// The state to store in a checkpoint.
    pub fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let mut state = prefixed("best", self.parameters.as_ref());
        let looks = Tensor::new(&[self.value, self.since_best as f32], &Device::Cpu)?;
        state.push(("looks".to_owned(), looks));
        Ok(state)
    }

    /// Restores a state from [`Self::state`].
    pub fn restore(&mut self, checkpoint: &Checkpoint, specs: &[ParameterSpec]) -> Result<()> {
        self.parameters = checkpoint.parameters("best", specs)?;
        let looks: Vec<f32> = checkpoint.tensor("looks")?.to_vec1()?;
        (self.value, self.since_best) = (looks[0], looks[1] as u64);
        Ok(())
    }
}
