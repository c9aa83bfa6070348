//! A training run: batches in, steps, checkpoints, held-out metrics on the way, weights out.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth::command_line::print_line;
use azimuth_network::Architecture;
use azimuth_network::parameters::Parameters;
use candle_core::{DType, Device};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::beginning::Origin;
use crate::checkpoint::Checkpoint;
use crate::data::batches::{Batches, Cores};
use crate::data::dataset::{DataFile, Dataset};
use crate::data::sampler::{Batch, Sampler, Sampling};
use crate::early_stopping::EarlyStopping;
use crate::loss::{LossValues, Losses};
use crate::model::Model;
use crate::moving_average::MovingAverage;
use crate::optimizer::Schedule;
use crate::progress::Progress;
use crate::space::{Measured, build_space, check_mates};
use crate::steps_or_time::{StepsOrTime, Stopwatch};

/// Held-out positions measured on the way.
const INTERIM_SAMPLE: usize = 60_000;

/// What a run does; a checkpoint belongs to one of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The encoder.
    pub architecture: Architecture,
    /// The weights file whose parameters it begins with; random ones where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
    /// How batches are drawn.
    pub sampling: Sampling,
    /// What is made small.
    pub losses: Losses,
    /// Dropout of the transformer.
    pub dropout: f32,
    /// OptimizerKind, rate, warm-up, steps and weight decay.
    pub schedule: Schedule,
    /// Gradients are cut to this length.
    pub clip: Option<f64>,
    /// Decay of the parameters' moving average, which then plays.
    pub average: Option<f64>,
    /// Validations without a better one after which to stop; the best then plays.
    pub patience: Option<u64>,
    /// Steps between validations; 0 for none on the way.
    pub validate_every: u64,
    /// Seed of parameters, order, draws and dropout.
    pub seed: u64,
    /// The data files with their hashes.
    pub data: Vec<DataFile>,
}

/// Where a run's files go and how often.
pub struct Output {
    /// The weights file.
    pub weights: PathBuf,
    /// The checkpoint, from which a run continues where it exists.
    pub checkpoint: PathBuf,
    /// Between checkpoints.
    pub checkpoint_every: StepsOrTime,
    /// After which to stop with a checkpoint, as if killed, but in good order.
    pub stop_after: Option<StepsOrTime>,
}

/// Where and with which precision a run computes; another may go on elsewhere.
pub struct Compute {
    /// The device.
    pub device: Device,
    /// Precision of a transformer's network; its parameters move in f32 in any case.
    pub dtype: DType,
}

/// The parameters of a run in all their forms.
pub(crate) struct State {
    model: Model,
    average: Option<MovingAverage>,
    early_stopping: Option<EarlyStopping>,
}

impl State {
    /// Begins with random parameters, drawn from the run's seed.
    pub fn new(config: &Config, compute: &Compute) -> Result<Self> {
        let Config { architecture, dropout, seed, .. } = config;
        let (device, parts) = (&compute.device, config.sampling.parts);
        Ok(Self {
            model: Model::new(architecture, device, compute.dtype, *dropout, parts, *seed)?,
            average: config.average.map(MovingAverage::new),
            early_stopping: config.patience.map(EarlyStopping::new),
        })
    }

    /// Begins with the parameters of the weights file that the run names, where it names one.
    pub fn begin(&mut self, config: &Config) -> Result<()> {
        match &config.from {
            Some(origin) => self.model.begin(&origin.beginning(&config.architecture)?),
            None => Ok(()),
        }
    }

    /// Goes on from a checkpoint.
    pub fn restore(&mut self, config: &Config, checkpoint: &Checkpoint) -> Result<()> {
        self.model.restore(checkpoint)?;
        let specs = config.architecture.parameters();
        if let Some(average) = &mut self.average {
            average.restore(checkpoint, &specs)?;
        }
        if let Some(early_stopping) = &mut self.early_stopping {
            early_stopping.restore(checkpoint, &specs)?;
        }
        Ok(())
    }

    /// Everything that is needed to go on after `step` steps.
    pub fn checkpoint(&self, step: u64, config: &str) -> Result<Checkpoint> {
        let mut state = self.model.state()?;
        if let Some(average) = &self.average {
            state.extend(average.state());
        }
        if let Some(early_stopping) = &self.early_stopping {
            state.extend(early_stopping.state()?);
        }
        Ok(Checkpoint::new(step, config.to_owned(), state))
    }

    /// Learns from the batch of step `index`, counted from 0. The losses are those from before it was learnt from.
    pub fn step(&mut self, config: &Config, batch: Batch, index: u64) -> Result<LossValues> {
        let dropout_seed = config.seed ^ index.rotate_left(32);
        let (gradients, found) = self.model.gradients(batch, &config.losses, dropout_seed)?;
        self.model.step(&gradients, config.schedule.step(index), config.clip)?;
        if let Some(average) = &mut self.average
            && MovingAverage::is_due(index + 1)
        {
            average.add(self.model.parameters()?)?;
        }
        Ok(found)
    }

    /// The parameters as of now: averaged where an average is kept.
    fn current(&self) -> Result<Parameters> {
        match self.average.as_ref().and_then(MovingAverage::parameters) {
            Some(average) => Ok(average.clone()),
            None => self.model.parameters(),
        }
    }

    /// The parameters that play: the best, the current ones where no best is kept.
    pub fn playing(&self) -> Result<Parameters> {
        match self.early_stopping.as_ref().and_then(EarlyStopping::parameters) {
            Some(best) => Ok(best.clone()),
            None => self.current(),
        }
    }
}

/// What a run came to.
pub struct Outcome {
    /// Held-out metrics of the weights.
    pub measured: Measured,
    /// Steps done.
    pub steps: u64,
    /// Positions a second, looks at the held-out games left out.
    pub speed: f64,
}

/// Trains to the last step, or from the checkpoint to it, and writes the weights; nothing where the
/// run stopped before.
pub fn train(
    config: &Config,
    data: &Dataset,
    compute: &Compute,
    output: &Output,
) -> Result<Option<Outcome>> {
    check_mates(data, &config.architecture)?;
    let mut state = State::new(config, compute)?;
    let described = serde_json::to_string(config)?;
    let mut first = 0;
    if let Some(checkpoint) = Checkpoint::read(&output.checkpoint)? {
        checkpoint.check_config(&described)?;
        state.restore(config, &checkpoint)?;
        first = checkpoint.step;
        eprintln!("continuing at step {first} of '{}'", output.checkpoint.display());
    } else {
        state.begin(config)?;
    }
    let steps = config.schedule.steps;
    let (positions, threshold) = (data.train.clone(), config.losses.threshold);
    let Config { architecture, sampling, seed, .. } = config;
    let on_cpu = compute.device.is_cpu();
    let sampler =
        Sampler::new(positions, architecture.clone(), *sampling, threshold, *seed, !on_cpu)?;
    let cores = if on_cpu { Cores::Shared } else { Cores::Free };
    let mut batches = Batches::prepare(sampler, first..steps, cores);

    let mut progress = Progress::new(first, steps)?;
    let mut until_checkpoint = Stopwatch::start(output.checkpoint_every, first);
    let until_stop = output.stop_after.map(|span| Stopwatch::start(span, first));
    let mut done = first;
    while done < steps && !state.early_stopping.as_ref().is_some_and(EarlyStopping::is_over) {
        if until_stop.as_ref().is_some_and(|stopwatch| stopwatch.has_passed(done)) {
            state.checkpoint(done, &described)?.write(&output.checkpoint)?;
            eprintln!("stopped at step {done}; the same command continues from the checkpoint");
            return Ok(None);
        }
        let batch = progress.wait(|| batches.next())?;
        let positions = batch.iter().map(|part| part.labels.len()).sum();
        let found = state.step(config, batch, done)?;
        done += 1;
        progress.step(positions, &found)?;
        if done.is_multiple_of(config.validate_every) && done < steps {
            let device = &compute.device;
            progress
                .pause(|progress| validate(config, &mut state, data, device, output, progress))?;
        }
        if until_checkpoint.has_passed(done) || done == steps {
            state.checkpoint(done, &described)?.write(&output.checkpoint)?;
            until_checkpoint.restart(done);
        }
    }
    let (parameters, device) = (state.playing()?, &compute.device);
    let measured = write_weights(config, parameters, data, device, done, &output.weights)?;
    Ok(Some(Outcome { measured, steps: done, speed: progress.speed() }))
}

/// Measures the parameters on held-out games, says and logs it.
fn validate(
    config: &Config,
    state: &mut State,
    data: &Dataset,
    device: &Device,
    output: &Output,
    progress: &mut Progress,
) -> Result<()> {
    let sample = data.validation.sample(INTERIM_SAMPLE);
    let parameters = state.current()?;
    let at_limit = state.model.values_at_limit(&parameters)?;
    if at_limit > 0 {
        progress.say(&format!("{at_limit} values of features.weight are as large as can play"));
    }
    let architecture = &config.architecture;
    let (_, measured) =
        build_space(architecture, parameters.clone(), data, &sample, device, json!(null))?;
    if let Some(early_stopping) = &mut state.early_stopping {
        // Not by the games of the metrics, which would no longer be held out.
        early_stopping.validated(measured.calibration_sibling as f32, &parameters);
    }
    let line = json!({ "run": progress.facts(), "held_out": measured.plays });
    progress.say(&line.to_string());
    let path = output.weights.with_extension("jsonl");
    let log = OpenOptions::new().create(true).append(true).open(&path);
    let written = log.and_then(|mut log| writeln!(log, "{line}"));
    written.with_context(|| format!("cannot write '{}'", path.display()))
}

/// The configuration of the run that a checkpoint belongs to.
pub fn config_of(checkpoint: &Checkpoint) -> Result<Config> {
    serde_json::from_str(&checkpoint.config)
        .context("the checkpoint's configuration is not of this version")
}

/// Writes weights from a checkpoint, finished or not, with parameters in precision `stored`.
pub fn export(
    config: &Config,
    checkpoint: &Checkpoint,
    data: &Dataset,
    device: &Device,
    stored: DType,
    weights: &Path,
) -> Result<()> {
    let mut state = State::new(config, &Compute { device: device.clone(), dtype: DType::F32 })?;
    state.restore(config, checkpoint)?;
    let parameters = state.playing()?.to(&Device::Cpu, stored)?;
    let measured = write_weights(config, parameters, data, device, checkpoint.step, weights)?;
    print_line(serde_json::to_string(&measured)?)?;
    Ok(())
}

/// Makes a playable space of `parameters` after `step` steps and writes it to `path`.
pub(crate) fn write_weights(
    config: &Config,
    parameters: Parameters,
    data: &Dataset,
    device: &Device,
    step: u64,
    path: &Path,
) -> Result<Measured> {
    let provenance = json!({
        "trainer": concat!("azimuth-train ", env!("CARGO_PKG_VERSION")),
        "steps": step,
        "config": config,
    });
    let (weights, measured) =
        build_space(&config.architecture, parameters, data, &data.validation, device, provenance)?;
    weights.write(path)?;
    eprintln!("wrote '{}'", path.display());
    Ok(measured)
}
