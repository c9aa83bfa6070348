//! A training run: AdamW steps, held-out metrics in a log, checkpoints at intervals, and the final
//! weights.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use azimuth_train::optimizer::Step;
use azimuth_train::optimizer::dense::DenseOptimizer;
use azimuth_train::training::{self, Checkpoint, End, Learnt, Log, Progress, Run, Since};
use candle_core::DType;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::learner::{Learner, Metrics};
use super::lesson::{Lesson, named};
use super::options::TrainOptions;

/// Number of steps over which the learning rate rises.
const WARM_UP: u64 = 100;

/// The final learning rate as a fraction of the peak.
const LEAST_RATE: f64 = 0.01;

/// Number of measurements in a run.
const MEASUREMENTS: u64 = 10;

/// The name in a checkpoint of the elapsed time.
const SECONDS: &str = "seconds";

/// Trains, from the checkpoint if one exists, and writes the weights.
pub fn train<C: Serialize + DeserializeOwned>(
    options: &TrainOptions,
    lesson: &Lesson<C>,
    learner: &mut dyn Learner,
) -> Result<()> {
    let path = options.checkpoint();
    let described = lesson.describe()?;
    let before = Checkpoint::of_run(&path, &described)?;
    let mut optimizer = DenseOptimizer::new(named(&lesson.parameters)?)?;
    let mut seconds_before = 0.0;
    if let Some(checkpoint) = &before {
        optimizer.restore(checkpoint)?;
        learner.restore(checkpoint)?;
        seconds_before = checkpoint.json(SECONDS)?;
    }
    let first = before.as_ref().map_or(0, |checkpoint| checkpoint.step);
    let steps = lesson.plan.steps;
    let mut run = RivalRun {
        lesson,
        learner,
        optimizer,
        described,
        checkpoint: &path,
        log: Log::open(&options.log(), first)?,
        metrics: Vec::new(),
        seconds_before,
        began: Instant::now(),
    };
    let mut progress = Progress::new(first, Some(steps), "examples")?;
    if before.is_none() {
        run.measure(&mut progress)?;
    } else {
        progress.say(&format!("continuing at step {first} of '{}'", path.display()));
    }
    match training::train(&mut run, first..steps, options.pace(), &mut progress)? {
        End::Stopped(done) => {
            eprintln!("stopped at step {done}; the same command continues from the checkpoint");
            Ok(())
        }
        End::Complete(_) => run.finish(&options.out),
    }
}

/// A rival's run.
struct RivalRun<'a, C> {
    lesson: &'a Lesson<C>,
    learner: &'a mut dyn Learner,
    optimizer: DenseOptimizer,
    /// The description of the run in its checkpoint.
    described: String,
    checkpoint: &'a Path,
    log: Log,
    /// The last metrics; empty if nothing was measured since the run was resumed.
    metrics: Metrics,
    /// Training time in seconds before the run was resumed.
    seconds_before: f64,
    began: Instant,
}

impl<C: Serialize + DeserializeOwned> RivalRun<'_, C> {
    /// Measures metrics and logs them.
    fn measure(&mut self, progress: &mut Progress) -> Result<()> {
        let Since { step, losses, .. } = progress.since_last()?;
        self.metrics = self.learner.measure()?;
        let loss = losses.first().map(|&(_, loss)| loss);
        let seconds = self.seconds().round();
        let mut line = json!({"step": step, "seconds": seconds, "training_loss": loss});
        for &(name, value) in &self.metrics {
            line[name] = value.into();
        }
        let words = self.metrics.iter().map(|(name, value)| format!("{name} {value:.4}"));
        progress.say(&format!("step {step}: {}", words.collect::<Vec<_>>().join(", ")));
        self.log.add(&line)
    }

    /// Total training time of the run in seconds.
    fn seconds(&self) -> f64 {
        self.seconds_before + self.began.elapsed().as_secs_f64()
    }

    /// Writes the weights and removes the checkpoint.
    fn finish(mut self, out: &Path) -> Result<()> {
        if self.metrics.is_empty() {
            self.metrics = self.learner.measure()?;
        }
        let weights = self.lesson.weights(self.seconds(), &self.metrics)?;
        (self.lesson.finish)(weights)?.write(out)?;
        Checkpoint::remove(self.checkpoint)
    }
}

impl<C: Serialize + DeserializeOwned> Run for RivalRun<'_, C> {
    fn step(&mut self, index: u64, _: &mut Progress) -> Result<Learnt> {
        let plan = self.lesson.plan;
        // A seed for each step, so that a resumed run draws the same examples.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.lesson.seed.wrapping_add(index << 16));
        let loss = self.learner.loss(index, &mut rng)?;
        let gradients = loss.backward()?;
        let rate = plan.learning_rate * schedule(index, plan.steps);
        let step = Step::adamw(index, rate, plan.weight_decay);
        let step = step.clipped(plan.clip, || self.optimizer.squared_gradient(&gradients))?;
        self.optimizer.step(&gradients, step)?;
        Ok(Learnt { examples: plan.batch, losses: vec![("loss", loss.to_dtype(DType::F32)?)] })
    }

    fn after_step(&mut self, done: u64, progress: &mut Progress) -> Result<()> {
        let steps = self.lesson.plan.steps;
        if done == steps || done.is_multiple_of(steps.div_ceil(MEASUREMENTS)) {
            progress.pause(|progress| self.measure(progress))?;
        }
        Ok(())
    }

    fn save(&mut self, done: u64) -> Result<()> {
        let state = self.optimizer.state().collect();
        let mut checkpoint = Checkpoint::new(done, self.described.clone(), state);
        checkpoint.insert_json(SECONDS, &self.seconds())?;
        self.learner.save(&mut checkpoint)?;
        checkpoint.write(self.checkpoint)
    }
}

/// The learning rate as a fraction of the peak: a linear warm-up, then a cosine decay.
fn schedule(step: u64, steps: u64) -> f64 {
    let warm_up = WARM_UP.min(steps / 10 + 1);
    if step < warm_up {
        return (step + 1) as f64 / warm_up as f64;
    }
    let done = (step - warm_up) as f64 / (steps - warm_up).max(1) as f64;
    LEAST_RATE + (1.0 - LEAST_RATE) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_and_falls() {
        let rates: Vec<f64> = (0..1000).map(|step| schedule(step, 1000)).collect();
        assert!(
            rates[..WARM_UP as usize].is_sorted()
                && rates[WARM_UP as usize..].is_sorted_by(|a, b| a > b)
        );
        assert_eq!(rates[WARM_UP as usize - 1], 1.0);
        assert!((rates[999] - LEAST_RATE).abs() < 1e-3);
        assert!((0..3).all(|step| schedule(step, 3) > 0.0));
    }
}
