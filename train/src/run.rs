//! A training run of an encoder: its state, steps, checkpoints, validations, and the final weights.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_cli::say;
use azimuth_network::parameters::Parameters;
use candle_core::{Device, Tensor};
use serde_json::{Value, json};
use toml::Table;

use crate::config::{Compute, Config, write_options};
use crate::data::batches::Batches;
use crate::data::dataset::Dataset;
use crate::data::sampler::{Batch, Sampler};
use crate::model::{self, Model};
use crate::ranks::{Ranks, Traffic, from_first, share_of};
use crate::space::{Measured, build_space, check_mates};
use crate::training::{
    self, Checkpoint, End, Learnt, Log, Pace, Progress, Run, Since, Wishes, prefixed,
};

/// Number of held-out positions in a validation during the run.
const INTERIM_SAMPLE: usize = 60_000;

/// The output files of a run, and its checkpoint intervals.
pub struct Output {
    /// The weights file.
    pub weights: PathBuf,
    /// The checkpoint, from which a run resumes if it exists.
    pub checkpoint: PathBuf,
    /// The options of the run, which are written beside the weights; empty if unknown.
    pub options: Table,
    /// The folder of TensorBoard's runs; none if `None`.
    pub tensorboard: Option<PathBuf>,
    /// Number of steps between lines of the log.
    pub log_every: u64,
    /// When to write checkpoints, and when to stop.
    pub pace: Pace,
}

/// The result of a run.
pub struct Outcome {
    /// Held-out metrics of the weights.
    pub measured: Measured,
    /// Number of steps done.
    pub steps: u64,
    /// Positions per second, excluding validations; `None` if the run was complete before.
    pub speed: Option<f64>,
}

/// Trains to the last step, from the checkpoint if there is one, and writes the weights. Returns
/// `None` if the run stopped earlier. Only the first rank writes files; the others return `None`.
pub fn train_encoder(
    config: &Config,
    data: &Dataset,
    compute: &Compute,
    output: &Output,
    ranks: &dyn Ranks,
) -> Result<Option<Outcome>> {
    check_mates(data, &config.architecture)?;
    agree(ranks, config, compute)?;
    let own = share_of(ranks, config.sampling.parts)?;
    let mut state = State::new(config, compute)?;
    let (config, first) = match checkpoint_of_first(&output.checkpoint, ranks)? {
        Some(checkpoint) => {
            let name = || format!("checkpoint '{}'", output.checkpoint.display());
            let config = config.continuing(&checkpoint).with_context(name)?;
            state.restore(&config, &checkpoint)?;
            if ranks.is_first() {
                let path = output.checkpoint.display();
                say(format_args!("continuing at step {} of '{path}'", checkpoint.step));
            }
            announce_extension(&config, &state, &checkpoint, ranks).with_context(name)?;
            (config, checkpoint.step)
        }
        None => {
            state.begin(config)?;
            (config.clone(), 0)
        }
    };
    let config = &config;
    if ranks.is_first() && !output.options.is_empty() {
        write_options(&output.options, config, &output.weights)?;
    }
    let steps = config.schedule.steps;
    let (positions, threshold) = (data.all.clone(), config.losses.threshold);
    let Config { architecture, sampling, seed, .. } = config;
    let on_cpu = compute.device.is_cpu();
    let sampler =
        Sampler::new(positions, architecture.clone(), *sampling, threshold, *seed, !on_cpu)?
            .only(own);
    let path = output.weights.with_extension("jsonl");
    let log = || Log::open(&path, first, output.tensorboard.as_deref());
    let mut run = EncoderRun {
        config,
        described: serde_json::to_string(config)?,
        state,
        data,
        device: &compute.device,
        checkpoint: &output.checkpoint,
        batches: Batches::prepare(sampler, first..steps, &compute.device, ranks.machine_count()),
        log: ranks.is_first().then(log).transpose()?,
        log_every: output.log_every,
        ranks,
    };
    let shown = ranks.is_first().then_some(steps);
    let (before, mut progress) = (ranks.traffic(), Progress::new(first, shown, "positions")?);
    let end = training::train(&mut run, first..steps, output.pace, &mut progress)?;
    let outcome = match end {
        End::Complete(done) if ranks.is_first() => {
            let (parameters, device) = (run.state.playing()?, &compute.device);
            let measured = write_weights(config, parameters, data, device, done, &output.weights)?;
            let speed = (done > first).then(|| progress.speed());
            Some(Outcome { measured, steps: done, speed })
        }
        _ => None,
    };
    if ranks.count() > 1 && ranks.is_first() {
        let (End::Complete(done) | End::Stopped(done)) = end;
        report_traffic(before, ranks, done - first);
    }
    // The other ranks wait for the weights, and end with an error if the first one fails.
    ranks.gather(Vec::new())?;
    Ok(outcome)
}

/// Fails if this rank has other options, other data or another kind of device than the first: ranks
/// on devices of two kinds exchange different messages.
fn agree(ranks: &dyn Ranks, config: &Config, compute: &Compute) -> Result<()> {
    let config = serde_json::to_string(config)?;
    let kind = if compute.device.is_cpu() { "cpu" } else { "gpu" };
    let own = format!("{config} {kind} {:?}", compute.dtype);
    let first = from_first(ranks, own.as_bytes())?;
    let differ = "its options, data or device differ from those of rank 0; give all ranks the same";
    ensure!(first == own.as_bytes(), differ);
    Ok(())
}

/// The checkpoint that the first rank reads; `None` if there is none.
fn checkpoint_of_first(path: &Path, ranks: &dyn Ranks) -> Result<Option<Checkpoint>> {
    if ranks.count() == 1 {
        return Checkpoint::read(path);
    }
    let mut bytes = if ranks.is_first() { Checkpoint::bytes(path)? } else { None };
    // An additional byte says that the file exists, even if it is empty.
    bytes.iter_mut().for_each(|bytes| bytes.push(1));
    let mut heard = from_first(ranks, &bytes.unwrap_or_default())?;
    heard.pop().map(|_| Checkpoint::of_bytes(&heard, path)).transpose()
}

/// Prints the traffic of the first rank per step, over the `steps` steps since `before`.
fn report_traffic(before: Traffic, ranks: &dyn Ranks, steps: u64) {
    let (after, steps) = (ranks.traffic(), steps.max(1) as f64);
    let bytes = (after.bytes - before.bytes) as f64 / steps;
    let time = (after.time - before.time).as_secs_f64() / steps;
    let (count, time) = (ranks.count(), 1e3 * time);
    say(format_args!(
        "{count} ranks; rank 0 sent {bytes:.0} bytes a step, and exchanged and waited for \
         {time:.2} ms a step"
    ));
}

/// Says how more steps than before change the learning rate. Fails if they have no effect.
fn announce_extension(
    config: &Config,
    state: &State,
    checkpoint: &Checkpoint,
    ranks: &dyn Ranks,
) -> Result<()> {
    let (first, schedule) = (checkpoint.step, config.schedule);
    let before = Config::of(checkpoint)?.schedule;
    if schedule.steps > before.steps {
        let goes_on = !state.is_over();
        ensure!(goes_on, "--patience ended its run at step {first}; more steps have no effect");
        if !ranks.is_first() {
            return Ok(());
        }
        say(format_args!(
            "{} steps instead of {}: from here on the learning rate is that of a run of {0} steps, \
             next {:.3e} instead of {:.3e}",
            schedule.steps,
            before.steps,
            schedule.learning_rate(first),
            before.learning_rate(first)
        ));
    }
    Ok(())
}

/// Tensor of a checkpoint: the lowest RMS error, and the number of validations since.
const VALIDATIONS: &str = "validations";

/// The state of a run: the model, and early stopping.
pub(crate) struct State {
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

    /// The parameters for play: the best ones if early stopping keeps them.
    pub fn playing(&self) -> Result<Parameters> {
        self.best.clone().map_or_else(|| self.model.parameters(), Ok)
    }
}

struct EncoderRun<'a> {
    config: &'a Config,
    /// The configuration in the form stored in a checkpoint.
    described: String,
    state: State,
    data: &'a Dataset,
    device: &'a Device,
    checkpoint: &'a Path,
    batches: Batches,
    /// The log, which the first rank writes.
    log: Option<Log>,
    log_every: u64,
    ranks: &'a dyn Ranks,
}

impl Run for EncoderRun<'_> {
    fn step(&mut self, index: u64, _: &mut Progress) -> Result<Learnt> {
        self.state.step(self.config, self.batches.next()?, index, self.ranks)
    }

    fn after_step(&mut self, done: u64, progress: &mut Progress) -> Result<()> {
        let Config { validate_every, patience, ref schedule, .. } = *self.config;
        // Early stopping chooses between the final parameters and earlier ones.
        let by_steps = done.is_multiple_of(validate_every);
        let is_due = if done < schedule.steps { by_steps } else { patience.is_some() };
        if is_due {
            progress.pause(|progress| self.validate(progress))?;
        } else if let Some(log) = &mut self.log
            && done.is_multiple_of(self.log_every)
        {
            log.add(&json!({ "run": line_of(self.config, progress.since_last()?) }))?;
        }
        Ok(())
    }

    fn save(&mut self, done: u64) -> Result<()> {
        if self.ranks.is_first() {
            self.state.checkpoint(done, &self.described)?.write(self.checkpoint)?;
        }
        // All ranks wait here until the file is complete.
        self.ranks.gather(Vec::new())?;
        Ok(())
    }

    /// The wish of one rank is that of all.
    fn agree(&mut self, Wishes { save, stop, interrupt }: Wishes) -> Result<Wishes> {
        let own = vec![u32::from(save), u32::from(stop), u32::from(interrupt)];
        let all = self.ranks.gather(own)?;
        let any = |index: usize| all.iter().any(|wishes| wishes[index] > 0);
        Ok(Wishes { save: any(0), stop: any(1), interrupt: any(2) })
    }

    fn is_over(&self) -> bool {
        self.state.is_over()
    }
}

impl EncoderRun<'_> {
    /// Measures the parameters on held-out games; the first rank prints and logs the metrics.
    fn validate(&mut self, progress: &mut Progress) -> Result<()> {
        let (since, parameters) = (progress.since_last()?, self.state.model.parameters()?);
        let mut rms = f32::NAN;
        if let Some(log) = &mut self.log {
            let (config, data, device) = (self.config, self.data, self.device);
            let (sample, own) = (data.validation.sample(INTERIM_SAMPLE), parameters.clone());
            let (_, measured) =
                build_space(&config.architecture, own, data, &sample, device, json!(null))?;
            let line = json!({ "run": line_of(config, since), "held_out": measured.plays });
            progress.say(&line.to_string());
            log.add(&line)?;
            rms = measured.calibration_rms as f32;
        }
        let rms = from_first(self.ranks, &rms.to_le_bytes())?;
        let rms = f32::from_le_bytes(rms.as_slice().try_into()?);
        // Early stopping uses the calibration games: games that select parameters are not held out
        // for the metrics.
        self.state.validated(rms, &parameters);
        Ok(())
    }
}

/// The steps since the last line of the log, for a line.
fn line_of(config: &Config, since: Since) -> Value {
    let Since { step, losses, speed } = since;
    let mut run = json!({
        "step": step,
        "learning_rate": config.schedule.learning_rate(step - 1),
        "positions_per_second": speed,
    });
    for (name, loss) in losses {
        run[name] = loss.into();
    }
    run
}

/// Builds a playable space from `parameters` after `step` steps and writes it to `path`.
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
    say(format_args!("wrote '{}'", path.display()));
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use candle_core::DType;

    use super::*;
    use crate::options::TrainOptions;
    use crate::ranks::threads::on_threads;

    #[test]
    fn ranks_compute_in_the_same_precision() -> Result<()> {
        let config = TrainOptions::with_options("")?.config()?;
        let errors = on_threads(3, |ranks| {
            let dtype = if ranks.rank() == 1 { DType::BF16 } else { DType::F32 };
            let compute = Compute { device: Device::Cpu, dtype };
            Ok(agree(ranks, &config, &compute).err().map(|error| error.to_string()))
        })?;
        let [None, Some(line), None] = &errors[..] else { panic!("{errors:?}") };
        assert!(line.contains("data or device differ from those of rank 0"), "{line}");
        Ok(())
    }

    #[test]
    fn ranks_read_a_checkpoint_as_one_process_does() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("run.checkpoint");
        let read = |count| {
            on_threads(count, |ranks| {
                let step = checkpoint_of_first(&path, ranks).map(|read| read.map(|c| c.step));
                Ok(step.map_err(|error| error.to_string()))
            })
        };
        assert_eq!(read(3)?, [Ok(None), Ok(None), Ok(None)]);
        Checkpoint::new(7, "{}".to_owned(), Vec::new()).write(&path)?;
        assert_eq!(read(3)?, [Ok(Some(7)), Ok(Some(7)), Ok(Some(7))]);
        std::fs::write(&path, "")?;
        let alone = read(1)?.remove(0);
        assert!(alone.as_ref().is_err_and(|error| error.contains("no complete checkpoint")));
        assert_eq!(read(3)?, vec![alone; 3]);
        Ok(())
    }
}
