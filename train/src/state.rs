//! The state of a training run and its steps: the model, and early stopping.

use anyhow::Result;
use azimuth_network::parameters::Parameters;
use candle_core::{Device, Tensor};

use crate::config::{Compute, Config};
use crate::data::sampler::Batch;
use crate::model::{self, Model};
use crate::ranks::Ranks;
use crate::training::{Checkpoint, Learnt, prefixed};

/// Tensor of a checkpoint: the lowest RMS error, and the number of validations since.
const VALIDATIONS: &str = "validations";

pub struct State {
    model: Box<dyn Model>,
    /// Number of validations without an improvement after which the run stops; `None` without early
    /// stopping, to which the next three fields belong.
    patience: Option<u64>,
    lowest_rms: f32,
    since_best: u64,
    best: Option<Parameters>,
}

impl State {
    /// A state with random parameters, drawn from the run's seed.
    pub fn new(config: &Config, compute: &Compute) -> Result<Self> {
        let Config { architecture, dropout, seed, patience, .. } = config;
        let (device, parts) = (&compute.device, config.sampling.parts);
        Ok(Self {
            model: model::build(architecture, device, compute.dtype, *dropout, parts, *seed)?,
            patience: *patience,
            lowest_rms: f32::INFINITY,
            since_best: 0,
            best: None,
        })
    }

    /// Loads the parameters of the run's weights file, if it starts from one.
    pub fn begin(&mut self, config: &Config) -> Result<()> {
        match &config.from {
            Some(origin) => self.model.begin(&origin.beginning(&config.architecture)?),
            None => Ok(()),
        }
    }

    pub fn restore(&mut self, config: &Config, checkpoint: &Checkpoint) -> Result<()> {
        self.model.restore(checkpoint)?;
        if self.patience.is_some() {
            self.best = checkpoint.parameters("best", &config.architecture.parameters())?;
            let validations: Vec<f32> = checkpoint.tensor(VALIDATIONS)?.to_vec1()?;
            (self.lowest_rms, self.since_best) = (validations[0], validations[1] as u64);
        }
        Ok(())
    }

    /// The state after `step` steps, as a checkpoint from which the run can resume.
    pub fn checkpoint(&self, step: u64, config: &str) -> Result<Checkpoint> {
        let mut state = self.model.state()?;
        if self.patience.is_some() {
            state.extend(prefixed("best", self.best.as_ref()));
            let validations = [self.lowest_rms, self.since_best as f32];
            state.push((VALIDATIONS.to_owned(), Tensor::new(&validations, &Device::Cpu)?));
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

    /// Records a validation: early stopping keeps the parameters with the lowest error `rms`.
    pub fn validated(&mut self, rms: f32, parameters: &Parameters) {
        if self.patience.is_none() {
            return;
        }
        if rms < self.lowest_rms {
            (self.lowest_rms, self.since_best) = (rms, 0);
            self.best = Some(parameters.clone());
        } else {
            self.since_best += 1;
        }
    }

    /// Whether early stopping ends the run.
    pub fn is_over(&self) -> bool {
        self.patience.is_some_and(|patience| self.since_best >= patience)
    }

    pub fn current(&self) -> Result<Parameters> {
        self.model.parameters()
    }

    /// The parameters for play: the best ones if early stopping keeps them.
    pub fn playing(&self) -> Result<Parameters> {
        self.best.clone().map_or_else(|| self.current(), Ok)
    }
}
