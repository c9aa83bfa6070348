//! Early stopping: keeps the best parameters, and stops once they no longer improve.

use anyhow::Result;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use candle_core::{Device, Tensor};

use crate::training::{Checkpoint, prefixed};

/// Tensor of a checkpoint: the lowest RMS error, and the number of validations since.
const VALIDATIONS: &str = "validations";

/// Stops a run whose validation no longer improves, and keeps its best parameters.
pub struct EarlyStopping {
    patience: u64,
    lowest_rms: f32,
    since_best: u64,
    parameters: Option<Parameters>,
}

impl EarlyStopping {
    /// Stops after `patience` validations without an improvement.
    pub fn new(patience: u64) -> Self {
        Self { patience, lowest_rms: f32::INFINITY, since_best: 0, parameters: None }
    }

    /// Records a validation: keeps `parameters` if their error `rms` is the lowest so far.
    pub fn validated(&mut self, rms: f32, parameters: &Parameters) {
        if rms < self.lowest_rms {
            (self.lowest_rms, self.since_best) = (rms, 0);
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
        let validations = Tensor::new(&[self.lowest_rms, self.since_best as f32], &Device::Cpu)?;
        state.push((VALIDATIONS.to_owned(), validations));
        Ok(state)
    }

    /// Restores a state from [`Self::state`].
    pub fn restore(&mut self, checkpoint: &Checkpoint, specs: &[ParameterSpec]) -> Result<()> {
        self.parameters = checkpoint.parameters("best", specs)?;
        let validations: Vec<f32> = checkpoint.tensor(VALIDATIONS)?.to_vec1()?;
        (self.lowest_rms, self.since_best) = (validations[0], validations[1] as u64);
        Ok(())
    }
}
