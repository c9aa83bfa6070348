//! The training of streams and branches: rounds, steps and checkpoints.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::replace_file::check_output;
use azimuth_search::inference::Backend;
use candle_core::{DType, Device};
use serde_json::json;

use super::folder::{Folder, Place};
use super::options::{BranchOptions, PaceOptions, StreamOptions};
use super::rounds::{Labelling, Round, RoundMaker, Rounds, label_round, seed_of, seed_of_branch};
use crate::config::{Compute, Config};
use crate::data::batches::{Batches, Cores};
use crate::optimizer::{Schedule, ScheduleShape};
use crate::ranks::Alone;
use crate::run::write_weights;
use crate::space::check_mates;
use crate::state::State;
use crate::training::{
    self, Checkpoint, End, Learnt, Log, Pace, Progress, Run, Since, StepsOrTime,
};

/// The index of the round that is held out and never trained on.
const HELD_OUT: u64 = 0;

/// Trains without end, from the checkpoint if there is one, until it is stopped.
pub fn stream(options: &StreamOptions) -> Result<()> {
    let StreamOptions { folder: path, run, labels, mates, pace, stop_after } = options;
    ensure!(run.is_sparse(), "--encoder: a stream trains the sparse one");
    let config = run.config(ScheduleShape::Constant, 0)?;
    let seed = config.seed;
    let folder = Arc::new(Folder::open(path)?);
    let described = serde_json::to_string(&config)?;
    let mut training = Training::new(config, folder.clone(), pace.device)?;
    match folder.checkpoint_of(&described)? {
        Some(checkpoint) => {
            training.restore(&checkpoint)?;
            say(format_args!("continuing at step {} of '{}'", training.step, path.display()));
        }
        None => training.state.begin(&training.config)?,
    }
    folder.keep_mates(mates)?;
    let labelling = Labelling::read(labels)?;
    label_round(&folder.held_out(), &labelling, seed_of(seed, HELD_OUT))?;
    // Errors of the data are reported before days of training.
    let data = Folder::measured_in(path)?;
    check_mates(&data, &training.config.architecture).context("--mates")?;
    drop(data);
    training.run(labelling, seed, pace, u64::MAX, *stop_after)?;
    say(format_args!("stopped at step {}; the same command continues", training.step));
    Ok(())
}

/// Decays the learning rate of a stream's checkpoint, or of an unfinished branch, to 0, and writes
/// the weights.
pub fn branch(options: &BranchOptions) -> Result<()> {
    let BranchOptions { folder: stream, steps, out, stored, labels, pace } = options;
    ensure!(*steps > 0, "--steps must be at least 1");
    let trunk = Folder::checkpoint_in(stream);
    ensure!(
        trunk.exists(),
        "--folder '{}': no stream has written a checkpoint there yet",
        stream.display()
    );
    // Errors of outputs and data are reported before hours of training.
    check_output(out, &[])?;
    let data = Folder::measured_in(stream)?;
    let path = out.with_extension("branch");
    let folder = Arc::new(Folder::open(&path)?);
    let mut training = match folder.checkpoint()? {
        Some(checkpoint) => {
            let mut training = Training::new(Config::of(&checkpoint)?, folder, pace.device)?;
            training.restore(&checkpoint)?;
            say(format_args!("continuing at step {} of '{}'", training.step, path.display()));
            training
        }
        None => {
            let checkpoint =
                Checkpoint::read(&trunk)?.context("the stream's checkpoint is gone")?;
            let first = checkpoint.step;
            let config = Config::of(&checkpoint)?;
            let schedule = Schedule {
                shape: ScheduleShape::Decay { first },
                steps: first + steps,
                ..config.schedule
            };
            let mut training = Training::new(Config { schedule, ..config }, folder, pace.device)?;
            training.restore(&checkpoint)?;
            training.place = Place { positions: training.place.positions, ..Place::START };
            // The stream continues to change: a killed branch must resume from the same step.
            training.save()?;
            training
        }
    };
    let Schedule { shape, steps: end, .. } = training.config.schedule;
    let ScheduleShape::Decay { first } = shape else {
        bail!("'{}' is no folder of a branch; give another --out", path.display())
    };
    ensure!(
        end - first == *steps,
        "'{}' has a branch of {} steps; give those again, or remove it",
        path.display(),
        end - first
    );
    let seed = seed_of_branch(training.config.seed, first);
    training.run(Labelling::read(labels)?, seed, pace, end, None)?;
    let device = &training.device;
    let parameters = training.state.playing()?.to(device, stored.dtype())?;
    let measured = write_weights(&training.config, parameters, &data, device, end, out)?;
    print_line(serde_json::to_string(&measured)?)?;
    training.remove()
}

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
