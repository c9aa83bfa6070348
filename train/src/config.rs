//! The configuration of a training run.

use anyhow::{Context, Result};
use azimuth_network::Architecture;
use candle_core::{DType, Device};
use serde::{Deserialize, Serialize};

use crate::beginning::Origin;
use crate::data::dataset::DataFile;
use crate::data::sampler::Sampling;
use crate::loss::Losses;
use crate::optimizer::Schedule;
use crate::training::Checkpoint;

/// The configuration of a run; a checkpoint is valid only for equal configurations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub architecture: Architecture,
    /// The weights file with the initial parameters; random ones if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
    pub sampling: Sampling,
    pub losses: Losses,
    /// Dropout of the transformer.
    pub dropout: f32,
    pub schedule: Schedule,
    /// The largest gradient norm; longer gradients are scaled down to it.
    pub clip: Option<f64>,
    /// Number of validations without an improvement after which the run stops; the best parameters
    /// become the final weights.
    pub patience: Option<u64>,
    /// Number of steps between validations; 0 for none during the run.
    pub validate_every: u64,
    /// Seed of the initial parameters, the order of positions, the sampling and dropout.
    pub seed: u64,
    pub data: Vec<DataFile>,
    /// The changes of the number of steps during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extended: Vec<Extension>,
    /// Whether [`Schedule::warmup`] follows from the number of steps, because no option gave it. A
    /// continued run keeps its value.
    #[serde(skip)]
    pub is_default_warmup: bool,
    /// The same of [`Config::validate_every`].
    #[serde(skip)]
    pub is_default_validate_every: bool,
}

/// A change of the number of steps during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extension {
    /// The number of steps that the run had done.
    pub done: u64,
    /// The number of steps before the change.
    pub steps: u64,
}

impl Config {
    /// The configuration stored in a checkpoint. Fails if another version wrote it.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self> {
        serde_json::from_str(&checkpoint.config)
            .context("the checkpoint's configuration is not of this version")
    }

    /// The configuration for continuing the run of `checkpoint` with the options in `self`. If
    /// `self` has more steps than the run so far, records an [`Extension`]. Fails if any other
    /// option differs. Entries that follow from the number of steps remain those of the run.
    pub fn continuing(&self, checkpoint: &Checkpoint) -> Result<Self> {
        let before = Self::of(checkpoint)?;
        let mut continued = Self { extended: before.extended, ..self.clone() };
        if self.is_default_warmup {
            continued.schedule.warmup = before.schedule.warmup;
        }
        if self.is_default_validate_every {
            continued.validate_every = before.validate_every;
        }
        let (steps, done) = (before.schedule.steps, checkpoint.step);
        let mut as_before = continued.clone();
        if self.schedule.steps > steps {
            as_before.schedule.steps = steps;
            continued.extended.push(Extension { done, steps });
        }
        checkpoint.check_config(&serde_json::to_string(&as_before)?)?;
        Ok(continued)
    }
}

/// Device and precision of a run; it may be resumed with different ones.
pub struct Compute {
    pub device: Device,
    /// Precision of a transformer's network; its master weights are always f32.
    pub dtype: DType,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::TrainOptions;

    fn config(options: &str) -> Result<Config> {
        TrainOptions::with_options(options)?.config()
    }

    #[test]
    fn a_run_keeps_the_defaults_with_which_it_began() -> Result<()> {
        let before = "--steps 300 --warmup 500 --validate-every 10000";
        let began = serde_json::to_string(&config(before)?)?;
        let checkpoint = Checkpoint::new(7, began, Vec::new());
        for steps in [300, 900] {
            let now = config(&format!("--steps {steps}"))?.continuing(&checkpoint)?;
            assert_eq!((now.schedule.warmup, now.validate_every), (500, 10_000));
            assert_eq!(now.schedule.steps, steps);
        }
        for (option, expected) in [
            ("--warmup 30", "--warmup 500 (now 30)"),
            ("--validate-every 100", "--validate-every 10000 (now 100)"),
        ] {
            let other = config(&format!("--steps 300 {option}"))?.continuing(&checkpoint);
            let error = other.expect_err(option).to_string();
            assert!(error.contains(expected), "{error}");
        }
        Ok(())
    }
}
