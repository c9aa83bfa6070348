//! The moving average of the parameters.

use anyhow::Result;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use candle_core::Tensor;

use crate::training::{Checkpoint, prefixed};

/// Steps between updates of the average, whose decay is raised to this power: reading all parameters
/// costs as much as a step of the sparse encoder.
const STEPS_BETWEEN: u64 = 16;

/// Exponential moving average of the parameters (Polyak and Juditsky 1992), as they play.
pub struct MovingAverage {
    decay: f64,
    parameters: Option<Parameters>,
}

impl MovingAverage {
    /// An average that keeps `decay` of itself at every step.
    pub fn new(decay: f64) -> Self {
        Self { decay, parameters: None }
    }

    /// Whether step number `step` is one after which to call [`Self::add`].
    pub fn is_due(step: u64) -> bool {
        step.is_multiple_of(STEPS_BETWEEN)
    }

    /// Moves towards `parameters`.
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

    /// What a checkpoint holds of it.
    pub fn state(&self) -> Vec<(String, Tensor)> {
        prefixed("average", self.parameters.as_ref())
    }

    /// Puts back what [`Self::state`] gave.
    pub fn restore(&mut self, checkpoint: &Checkpoint, specs: &[ParameterSpec]) -> Result<()> {
        self.parameters = checkpoint.parameters("average", specs)?;
        Ok(())
    }
}
