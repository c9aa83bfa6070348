//! The state of a training run and its steps: the model, and early stopping.

use anyhow::Result;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use candle_core::{Device, Tensor};

use crate::config::{Compute, Config};
use crate::data::sampler::Batch;
use crate::model::{self, Model};
use crate::ranks::Ranks;
use crate::training::{Checkpoint, Learnt, prefixed};

/// The state of a training run.
pub struct State {
    model: Box<dyn Model>,
    early_stopping: Option<EarlyStopping>,
}

impl State {
    /// A state with random parameters, drawn from the run's seed.
    pub fn new(config: &Config, compute: &Compute) -> Result<Self> {
        let Config { architecture, dropout, seed, .. } = config;
        let (device, parts) = (&compute.device, config.sampling.parts);
        Ok(Self {
            model: model::build(architecture, device, compute.dtype, *dropout, parts, *seed)?,
            early_stopping: config.patience.map(EarlyStopping::new),
        })
    }

    /// Loads the parameters of the run's weights file, if it starts from one.
    pub fn begin(&mut self, config: &Config) -> Result<()> {
        match &config.from {
            Some(origin) => self.model.begin(&origin.beginning(&config.architecture)?),
            None => Ok(()),
        }
    }

    /// Restores the state from a checkpoint.
    pub fn restore(&mut self, config: &Config, checkpoint: &Checkpoint) -> Result<()> {
        self.model.restore(checkpoint)?;
        match &mut self.early_stopping {
            Some(stopping) => stopping.restore(checkpoint, &config.architecture.parameters()),
            None => Ok(()),
        }
    }

    /// The state after `step` steps, as a checkpoint from which the run can resume.
    pub fn checkpoint(&self, step: u64, config: &str) -> Result<Checkpoint> {
        let mut state = self.model.state()?;
        if let Some(early_stopping) = &self.early_stopping {
            state.extend(early_stopping.state()?);
        }
        Ok(Checkpoint::new(step, config.to_owned(), state))
    }

    /// Trains on the batch of step `index`, counted from 0, together with the other ranks.
    pub fn step(
        &mut self,
        config: &Config,
        batch: Batch,
        index: u64,
        ranks: &dyn Ranks,
    ) -> Result<Learnt> {
        let dropout_seed = config.seed ^ index.rotate_left(32);
        let examples = batch.positions;
        let (gradients, found) =
            model::gradients(&*self.model, batch, &config.losses, dropout_seed, ranks)?;
        self.model.step(&gradients, config.schedule.step(index), config.clip)?;
        let losses = vec![("contrastive", found.contrastive), ("regression", found.regression)];
        Ok(Learnt { examples, losses })
    }

    /// Records a validation of `parameters` with the error `rms`.
    pub fn validated(&mut self, rms: f32, parameters: &Parameters) {
        if let Some(early_stopping) = &mut self.early_stopping {
            early_stopping.validated(rms, parameters);
        }
    }

    /// Whether early stopping ends the run.
    pub fn is_over(&self) -> bool {
        self.early_stopping.as_ref().is_some_and(EarlyStopping::is_over)
    }

    /// The current parameters.
    pub fn current(&self) -> Result<Parameters> {
        self.model.parameters()
    }

    /// The parameters for play: the best ones if early stopping keeps them, otherwise the current
    /// ones.
    pub fn playing(&self) -> Result<Parameters> {
        let best = self.early_stopping.as_ref().and_then(|stopping| stopping.parameters.clone());
        best.map_or_else(|| self.current(), Ok)
    }
}

/// Tensor of a checkpoint: the lowest RMS error, and the number of validations since.
const VALIDATIONS: &str = "validations";

/// Stops a run whose validation no longer improves, and keeps its best parameters.
struct EarlyStopping {
    patience: u64,
    lowest_rms: f32,
    since_best: u64,
    parameters: Option<Parameters>,
}

impl EarlyStopping {
    /// Stops after `patience` validations without an improvement.
    fn new(patience: u64) -> Self {
        Self { patience, lowest_rms: f32::INFINITY, since_best: 0, parameters: None }
    }

    /// Records a validation: keeps `parameters` if their error `rms` is the lowest so far.
    fn validated(&mut self, rms: f32, parameters: &Parameters) {
        if rms < self.lowest_rms {
            (self.lowest_rms, self.since_best) = (rms, 0);
            self.parameters = Some(parameters.clone());
        } else {
            self.since_best += 1;
        }
    }

    /// Whether there was no improvement for `patience` validations.
    fn is_over(&self) -> bool {
        self.since_best >= self.patience
    }

    /// The state to store in a checkpoint.
    fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let mut state = prefixed("best", self.parameters.as_ref());
        let validations = Tensor::new(&[self.lowest_rms, self.since_best as f32], &Device::Cpu)?;
        state.push((VALIDATIONS.to_owned(), validations));
        Ok(state)
    }

    /// Restores a state from [`Self::state`].
    fn restore(&mut self, checkpoint: &Checkpoint, specs: &[ParameterSpec]) -> Result<()> {
        self.parameters = checkpoint.parameters("best", specs)?;
        let validations: Vec<f32> = checkpoint.tensor(VALIDATIONS)?.to_vec1()?;
        (self.lowest_rms, self.since_best) = (validations[0], validations[1] as u64);
        Ok(())
    }
}
