//! Rounds in, steps, checkpoints: what a stream and its branches share.

use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth::inference::Backend;
use candle_core::DType;

use super::folder::Folder;
use super::log::Log;
use super::options::{PaceOptions, RoundOptions};
use super::place::Place;
use super::rounds::Rounds;
use crate::checkpoint::Checkpoint;
use crate::data::batches::{Batches, Cores};
use crate::run::{Compute, Config, State};
use crate::steps_or_time::{StepsOrTime, Stopwatch};

/// A run that goes from round to round.
pub struct Training {
    /// Its configuration.
    pub config: Config,
    /// Its parameters.
    pub state: State,
    /// Steps done, those before a branch included.
    pub step: u64,
    /// Its place in the rounds.
    pub place: Place,
    folder: Arc<Folder>,
}

impl Training {
    /// A run in `folder` that has done nothing.
    pub fn new(config: Config, folder: Arc<Folder>) -> Result<Self> {
        let compute = Compute { device: Backend::Cpu.device()?, dtype: DType::F32 };
        let state = State::new(&config, &compute)?;
        Ok(Self { config, state, step: 0, place: Place::START, folder })
    }

    /// Goes on from a checkpoint.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.state.restore(&self.config, checkpoint)?;
        (self.step, self.place) = (checkpoint.step, Place::of(checkpoint)?);
        Ok(())
    }

    /// Leaves a checkpoint, and removes the rounds that lie before it.
    pub fn save(&self) -> Result<()> {
        let config = serde_json::to_string(&self.config)?;
        self.folder.write(self.state.checkpoint(self.step, &config)?, self.place)
    }

    /// Learns until step `end`, or for as long as `stop_after`, and leaves a checkpoint there. The rounds are drawn from
    /// `seed`.
    pub fn run(
        &mut self,
        labels: &RoundOptions,
        seed: u64,
        pace: &PaceOptions,
        end: u64,
        stop_after: Option<StepsOrTime>,
    ) -> Result<()> {
        let mut log = Log::open(self.folder.log(), pace.log_every)?;
        let rounds = Rounds {
            folder: self.folder.clone(),
            labels: labels.clone(),
            config: self.config.clone(),
            seed,
        };
        let rounds = rounds.start(self.place, end - self.step);
        let mut until_checkpoint = Stopwatch::start(pace.checkpoint_every, self.step);
        let until_stop = stop_after.map(|span| Stopwatch::start(span, self.step));
        while self.step < end {
            let round = log.wait(|| rounds.recv()).context("the thread that labels ended")??;
            let mut batches =
                Batches::prepare(round.sampler, self.place.step..round.steps, Cores::Shared);
            while self.place.step < round.steps && self.step < end {
                if until_stop.as_ref().is_some_and(|stopwatch| stopwatch.has_passed(self.step)) {
                    return self.save();
                }
                let batch = log.wait(|| batches.next())?;
                let positions = batch.iter().map(|part| part.labels.len() as u64).sum();
                let found = self.state.step(&self.config, batch, self.step)?;
                self.step += 1;
                self.place.step += 1;
                self.place.positions += positions;
                log.step(self.step, self.place, positions, &found)?;
                if until_checkpoint.has_passed(self.step) {
                    self.save()?;
                    until_checkpoint.restart(self.step);
                }
            }
            if self.place.step == round.steps {
                self.place = Place { round: self.place.round + 1, step: 0, ..self.place };
            }
        }
        self.save()
    }
    /// Removes its folder: it is at its end.
    pub fn remove(&self) -> Result<()> {
        self.folder.remove()
    }
}
