//! Parameters other than the last ones: their moving average, and the best seen so far.

use anyhow::Result;
use azimuth::encoder::parameters::{ParameterSpec, Parameters};
use candle_core::{Device, Tensor};

use crate::checkpoint::Checkpoint;

/// Steps between updates of the average, whose decay is raised to this power: reading all parameters
/// costs as much as a step of the sparse encoder.
const STEPS_BETWEEN: u64 = 16;

/// Exponential moving average of the parameters (Polyak and Juditsky 1992), as they play.
pub struct Average {
    decay: f64,
    parameters: Option<Parameters>,
}

impl Average {
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
        named("average", self.parameters.as_ref())
    }

    /// Puts back what [`Self::state`] gave.
    pub fn restore(&mut self, checkpoint: &Checkpoint, specs: &[ParameterSpec]) -> Result<()> {
        self.parameters = restored("average", checkpoint, specs)?;
        Ok(())
    }
}

/// The best parameters of a run that stops early.
pub struct Best {
    patience: u64,
    value: f32,
    looks_since: u64,
    parameters: Option<Parameters>,
}

impl Best {
    /// Gives up after `patience` looks without a better one.
    pub fn new(patience: u64) -> Self {
        Self { patience, value: f32::NEG_INFINITY, looks_since: 0, parameters: None }
    }

    /// Takes a look: keeps `parameters` if their `value` is the highest so far.
    pub fn look(&mut self, value: f32, parameters: &Parameters) {
        if value > self.value {
            (self.value, self.looks_since) = (value, 0);
            self.parameters = Some(parameters.clone());
        } else {
            self.looks_since += 1;
        }
    }

    /// Whether nothing has become better for too long.
    pub fn is_over(&self) -> bool {
        self.looks_since >= self.patience
    }

    /// The best parameters.
    pub fn parameters(&self) -> Option<&Parameters> {
        self.parameters.as_ref()
    }

    /// What a checkpoint holds of it.
    pub fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let mut state = named("best", self.parameters.as_ref());
        let looks = Tensor::new(&[self.value, self.looks_since as f32], &Device::Cpu)?;
        state.push(("looks".to_owned(), looks));
        Ok(state)
    }

    /// Puts back what [`Self::state`] gave.
    pub fn restore(&mut self, checkpoint: &Checkpoint, specs: &[ParameterSpec]) -> Result<()> {
        self.parameters = restored("best", checkpoint, specs)?;
        let looks: Vec<f32> = checkpoint.tensor("looks")?.to_vec1()?;
        (self.value, self.looks_since) = (looks[0], looks[1] as u64);
        Ok(())
    }
}

fn named(prefix: &str, parameters: Option<&Parameters>) -> Vec<(String, Tensor)> {
    let all = parameters.into_iter().flat_map(Parameters::iter);
    all.map(|(name, tensor)| (format!("{prefix}.{name}"), tensor.clone())).collect()
}

fn restored(
    prefix: &str,
    checkpoint: &Checkpoint,
    specs: &[ParameterSpec],
) -> Result<Option<Parameters>> {
    let name = |spec: &ParameterSpec| format!("{prefix}.{}", spec.name);
    if !specs.iter().any(|spec| checkpoint.has(&name(spec))) {
        return Ok(None);
    }
    let tensors = specs.iter().map(|spec| Ok((spec.name.clone(), checkpoint.tensor(&name(spec))?)));
    Ok(Some(Parameters::new(tensors.collect::<Result<Vec<_>>>()?)))
}
