//! The moving average of the parameters.

use anyhow::Result;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use candle_core::Tensor;

use crate::training::{Checkpoint, prefixed};

/// Number of steps between updates of the average; its decay is raised to this power. Reading all
/// parameters costs as much as a step of the sparse encoder.
const STEPS_BETWEEN: u64 = 16;

/// Exponential moving average of the parameters for play (Polyak and Juditsky 1992).
pub struct MovingAverage {
    decay: f64,
    parameters: Option<Parameters>,
}

impl MovingAverage {
    /// An average with decay `decay` for each step.
    pub fn new(decay: f64) -> Self {
        Self { decay, parameters: None }
    }

    /// Whether the caller must call [`Self::add`] after `step` steps.
    pub fn is_due(step: u64) -> bool {
        step.is_multiple_of(STEPS_BETWEEN)
    }

    /// Updates the average with `parameters`.
    pub fn add(&mut self, parameters: Parameters) -> Result<()> {
        let kept = self.decay.powf(STEPS_BETWEEN as f64);
        self.parameters = Some(match self.parameters.take() {
            None => parameters,
            Some(average) => {
                let moved = average.iter().map(|(name, old)| {
                    let new = parameters.get(name)?;
                    Ok((name.clone(), ((old * kept)? + (new * (1.0 - kept))?)?))
                });
                Parameters::new(moved.collect::<Result<Vec<_>>>()?)
            }
        });
        Ok(())
    }

    /// The average so far.
    pub fn parameters(&self) -> Option<&Parameters> {
        self.parameters.as_ref()
    }

    /// The state to store in a checkpoint.
    pub fn state(&self) -> Vec<(String, Tensor)> {
        prefixed("average", self.parameters.as_ref())
    }

    /// Restores a state from [`Self::state`].
    pub fn restore(&mut self, checkpoint: &Checkpoint, specs: &[ParameterSpec]) -> Result<()> {
        self.parameters = checkpoint.parameters("average", specs)?;
        Ok(())
    }
}
