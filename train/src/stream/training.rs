//! The training that a stream and its branches share: rounds, steps and checkpoints.

use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth::inference::Backend;
use candle_core::{DType, Device};
use serde_json::json;

use super::folder::Folder;
use super::options::PaceOptions;
use super::place::Place;
use super::rounds::{Labelling, Round, RoundMaker, Rounds};
use crate::config::{Compute, Config};
use crate::data::batches::{Batches, Cores};
use crate::ranks::Alone;
use crate::state::State;
use crate::training::{
    self, Checkpoint, End, Learnt, Log, Pace, Progress, Run, Since, StepsOrTime,
};

/// The state of a run that trains round by round.
pub struct Training {
    /// Its configuration.
    pub config: Config,
    /// Its parameters.
    pub state: State,
    /// Number of steps done, including those of the stream before a branch.
    pub step: u64,
    /// Its progress in the rounds.
    pub place: Place,
    /// The device that computes.
    pub device: Device,
    folder: Arc<Folder>,
}

impl Training {
    /// A new run in `folder`.
    pub fn new(config: Config, folder: Arc<Folder>, device: Backend) -> Result<Self> {
        let device = device.device().context("--device")?;
        let state = State::new(&config, &Compute { device: device.clone(), dtype: DType::F32 })?;
        Ok(Self { config, state, step: 0, place: Place::START, device, folder })
    }

    /// Restores the state from a checkpoint.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.state.restore(checkpoint)?;
        (self.step, self.place) = (checkpoint.step, Place::of(checkpoint)?);
        Ok(())
    }

    /// Writes a checkpoint, and removes the rounds before it.
    pub fn save(&self) -> Result<()> {
        let config = serde_json::to_string(&self.config)?;
        self.folder.write(self.state.checkpoint(self.step, &config)?, self.place)
    }

    /// Trains until step `end`, or for `stop_after`, and writes a checkpoint. `seed` is the seed of
    /// the rounds.
    pub fn run(
        &mut self,
        labelling: Labelling,
        seed: u64,
        pace: &PaceOptions,
        end: u64,
        stop_after: Option<StepsOrTime>,
    ) -> Result<()> {
        let (first, log) = (self.step, Log::open(&self.folder.log(), self.step)?);
        let log = log.tensorboard(pace.tensorboard.as_deref(), self.folder.path())?;
        let maker = RoundMaker {
            folder: self.folder.clone(),
            labelling,
            config: self.config.clone(),
            seed,
            together: !self.device.is_cpu(),
        };
        let rounds = Rounds::start(maker, self.place, end - first);
        let mut run =
            StreamRun { of: self, rounds, current: None, log, log_every: pace.log_every, first };
        let pace = Pace { checkpoint_every: pace.checkpoint_every, stop_after };
        let mut progress = Progress::new(first, None, "positions")?;
        match training::train(&mut run, first..end, pace, &mut progress)? {
            End::Complete(_) => run.rounds.finish(),
            // The process ends; the next one resumes the rounds that are being labelled.
            End::Stopped(_) => {}
        }
        Ok(())
    }

    /// Removes the folder at the end of the run.
    pub fn remove(&self) -> Result<()> {
        self.folder.remove()
    }
}

/// A run in progress.
struct StreamRun<'a> {
    of: &'a mut Training,
    rounds: Rounds,
    /// The current round.
    current: Option<CurrentRound>,
    log: Log,
    log_every: u64,
    /// Number of steps done before this process.
    first: u64,
}

struct CurrentRound {
    batches: Batches,
    steps: u64,
}

impl Run for StreamRun<'_> {
    fn step(&mut self, index: u64, progress: &mut Progress) -> Result<Learnt> {
        let batch = loop {
            match &mut self.current {
                Some(round) if self.of.place.step < round.steps => {
                    break progress.wait(|| round.batches.next())?;
                }
                Some(_) => {
                    self.of.place = self.of.place.next_round();
                    self.current = None;
                }
                None => {
                    let Round { sampler, steps } = progress.wait(|| self.rounds.next())?;
                    let left = self.of.place.step..steps;
                    let cores = Cores::beside(&self.of.device);
                    let batches = Batches::prepare(sampler, left, cores, 1);
                    self.current = Some(CurrentRound { batches, steps });
                }
            }
        };
        let learnt = self.of.state.step(&self.of.config, batch, index, &Alone)?;
        self.of.step = index + 1;
        self.of.place.step += 1;
        self.of.place.positions += learnt.examples as u64;
        Ok(learnt)
    }

    /// Adds a line to the log. In the first pass of a round the losses are on unseen positions.
    fn after_step(&mut self, done: u64, progress: &mut Progress) -> Result<()> {
        if !(done - self.first).is_multiple_of(self.log_every) {
            return Ok(());
        }
        let Since { step, losses, speed, waiting } = progress.since_last()?;
        let mut line = json!({
            "step": step,
            "round": self.of.place.round,
            "positions": self.of.place.positions,
            "positions_per_second": speed.round(),
            "waiting": waiting,
        });
        for (name, loss) in losses {
            line[name] = loss.into();
            if name == "regression" {
                line["rms"] = loss.sqrt().into();
            }
        }
        progress.say(&line.to_string());
        self.log.add(&line)
    }

    fn save(&mut self, _done: u64) -> Result<()> {
        if self.current.as_ref().is_some_and(|round| self.of.place.step == round.steps) {
            self.of.place = self.of.place.next_round();
            self.current = None;
        }
        self.of.save()
    }
}
