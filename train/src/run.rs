//! A training run: batches in, steps, checkpoints, held-out metrics on the way, weights out.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use azimuth::encoder::Architecture;
use candle_core::Device;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::checkpoint::Checkpoint;
use crate::data::batches::{Sampling, prepare};
use crate::data::{DataFile, Dataset};
use crate::loss::{regression, supervised_contrastive};
use crate::model::Model;
use crate::optimizer::Schedule;
use crate::space::finish;

/// Held-out positions measured on the way.
const INTERIM_SAMPLE: usize = 60_000;

/// What a run does; a checkpoint belongs to one of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The encoder.
    pub architecture: Architecture,
    /// Positions of a step drawn without repetition in an epoch.
    pub anchors: usize,
    /// Positions drawn for each anchor from those of similar label.
    pub positives: usize,
    /// Margin of win probability of a positive pair.
    pub delta: f32,
    /// Temperature of the contrastive loss.
    pub temperature: f32,
    /// Weight of the auxiliary regression.
    pub regression: f32,
    /// Dropout of the transformer.
    pub dropout: f32,
    /// Random exchange of the files (sparse encoder).
    pub mirror: bool,
    /// Rule, rate, warm-up, steps and weight decay.
    pub schedule: Schedule,
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
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// Steps between looks at the held-out games.
    pub validate_every: u64,
    /// Steps after which to stop with a checkpoint, as if killed, but in good order.
    pub stop_after: Option<u64>,
}

/// Trains to the last step, or from the checkpoint to it, and writes the weights.
pub fn train(config: &Config, data: &Dataset, device: &Device, output: &Output) -> Result<()> {
    let mut model = Model::new(&config.architecture, device, config.dropout, config.seed)?;
    let described = serde_json::to_string(config)?;
    let mut first = 0;
    if let Some(checkpoint) = Checkpoint::read(&output.checkpoint)? {
        checkpoint.check_config(&described)?;
        model.restore(&checkpoint)?;
        first = checkpoint.step;
        eprintln!("continuing at step {first} of '{}'", output.checkpoint.display());
    }
    let steps = config.schedule.steps;
    let last = output.stop_after.map_or(steps, |stop| (first + stop).min(steps));
    let sampling = Sampling {
        anchors: config.anchors,
        positives: config.positives,
        delta: config.delta,
        mirror: config.mirror,
        seed: config.seed,
    };
    let batches = prepare(data.train.clone(), &config.architecture, sampling, first..last);

    let mut progress = Progress::new(first, steps)?;
    for step in first..last {
        let batch = batches.recv().context("the thread that prepares batches ended")?;
        let count = batch.labels.len();
        let z = model.forward(batch.inputs, config.seed ^ step.rotate_left(32))?;
        let contrast = supervised_contrastive(&z, &batch.labels, config.delta, config.temperature)?;
        let (direction, bias) = model.readout();
        let error = regression(&z, &batch.labels, direction, bias)?;
        let loss = (&contrast + (&error * f64::from(config.regression))?)?;
        model.step(&loss, config.schedule.step(step))?;
        progress.step(count, contrast.to_scalar()?, error.to_scalar()?);

        let done = step + 1;
        if done.is_multiple_of(output.validate_every) && done < steps {
            let sample = data.validation.sample(INTERIM_SAMPLE);
            let parameters = model.parameters()?;
            let (_, measured) =
                finish(&config.architecture, parameters, data, &sample, device, json!(null))?;
            progress.say(&format!("step {done}: {}", serde_json::to_string(&measured.plays)?));
        }
        if done.is_multiple_of(output.checkpoint_every) || done == last {
            Checkpoint::new(done, described.clone(), model.state()?).write(&output.checkpoint)?;
        }
    }
    if last < steps {
        eprintln!("stopped at step {last}; the same command continues from the checkpoint");
        return Ok(());
    }
    write_weights(config, &model, data, device, steps, &output.weights)
}

/// The configuration of the run that a checkpoint belongs to.
pub fn config_of(checkpoint: &Checkpoint) -> Result<Config> {
    serde_json::from_str(&checkpoint.config)
        .context("the checkpoint's configuration is not of this version")
}

/// Writes weights from a checkpoint, finished or not.
pub fn export(
    config: &Config,
    checkpoint: &Checkpoint,
    data: &Dataset,
    device: &Device,
    weights: &Path,
) -> Result<()> {
    let mut model = Model::new(&config.architecture, device, config.dropout, config.seed)?;
    model.restore(checkpoint)?;
    write_weights(config, &model, data, device, checkpoint.step, weights)
}

fn write_weights(
    config: &Config,
    model: &Model,
    data: &Dataset,
    device: &Device,
    step: u64,
    path: &Path,
) -> Result<()> {
    let provenance = json!({
        "trainer": concat!("azimuth-train ", env!("CARGO_PKG_VERSION")),
        "steps": step,
        "config": config,
    });
    let parameters = model.parameters()?;
    let (weights, measured) =
        finish(&config.architecture, parameters, data, &data.validation, device, provenance)?;
    weights.write(path)?;
    eprintln!("wrote '{}'", path.display());
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

/// The bar with loss, speed and time left.
struct Progress {
    bar: ProgressBar,
    started: Instant,
    positions: usize,
    contrast: f64,
    error: f64,
    shown: Instant,
}

impl Progress {
    fn new(first: u64, steps: u64) -> Result<Self> {
        let style = "{bar:30} {pos}/{len} steps, {msg}, {eta} left";
        let bar = ProgressBar::new(steps).with_position(first);
        bar.set_style(ProgressStyle::with_template(style)?);
        let now = Instant::now();
        Ok(Self { bar, started: now, positions: 0, contrast: 0.0, error: 0.0, shown: now })
    }

    fn step(&mut self, positions: usize, contrast: f32, error: f32) {
        let weight = if self.positions == 0 { 1.0 } else { 0.01 };
        self.contrast += weight * (f64::from(contrast) - self.contrast);
        self.error += weight * (f64::from(error) - self.error);
        self.positions += positions;
        self.bar.inc(1);
        self.bar.set_message(self.message());
        // Where the bar is hidden (not a terminal), a line now and then takes its place.
        if self.bar.is_hidden() && self.shown.elapsed() > Duration::from_secs(15) {
            eprintln!("step {}: {}", self.bar.position(), self.message());
            self.shown = Instant::now();
        }
    }

    fn message(&self) -> String {
        let speed = self.positions as f64 / self.started.elapsed().as_secs_f64();
        format!(
            "loss {:.4} (contrastive), {:.5} (regression), {speed:.0} positions/s",
            self.contrast, self.error
        )
    }

    fn say(&self, line: &str) {
        if self.bar.is_hidden() {
            eprintln!("{line}");
        } else {
            self.bar.println(line);
        }
    }
}
