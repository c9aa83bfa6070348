//! A training run: steps of AdamW, held-out metrics in a log, a checkpoint now and then, and weights in the end.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use candle_core::backprop::GradStore;
use candle_core::{DType, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checkpoint::{self, Reached};
use super::learner::Learner;
use super::lesson::Lesson;
use super::log::Log;
use super::options::TrainOptions;
use super::progress::Progress;

/// Steps in which the learning rate rises.
const WARM_UP: u64 = 100;

/// What is left of the learning rate at the end.
const LEAST_RATE: f64 = 0.1;

/// How often metrics are measured in a run.
const MEASUREMENTS: u64 = 10;

/// Trains, from the checkpoint where there is one, and writes the weights.
pub fn train<C: Serialize + DeserializeOwned>(
    options: &TrainOptions,
    lesson: &Lesson<C>,
    learner: &mut dyn Learner,
) -> Result<()> {
    let plan = lesson.plan;
    let checkpoint = options.checkpoint();
    let run = lesson.describe()?;
    let before = checkpoint::take_up(&checkpoint, &run, &mut lesson.parameters.clone())?;
    let mut log = Log::open(&options.log(), before)?;
    let settings = ParamsAdamW { weight_decay: plan.weight_decay, ..ParamsAdamW::default() };
    let variables = lesson.parameters.all_vars();
    let mut optimizer = AdamW::new(variables.clone(), settings)?;
    let mut progress = Progress::new(before.step, plan.steps)?;
    let (began, mut saved) = (Instant::now(), Instant::now());
    let so_far = || before.seconds + began.elapsed().as_secs_f64();
    let mut metrics = Vec::new();
    if before.step == 0 {
        metrics = learner.measure()?;
        log.add(before, None, &metrics)?;
        progress.say(&format!("before the first step: {}", words(&metrics)));
    } else {
        progress.say(&format!("goes on after step {}", before.step));
    }
    for step in before.step..plan.steps {
        optimizer.set_learning_rate(plan.learning_rate * schedule(step, plan.steps));
        // The same examples wherever a run was cut.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(options.seed.wrapping_add(step << 16));
        let loss = learner.loss(step, &mut rng)?;
        let value = f64::from(loss.to_dtype(DType::F32)?.to_scalar::<f32>()?);
        ensure!(value.is_finite(), "step {step}: the loss is {value}; try a lower --learning-rate");
        let mut gradients = loss.backward()?;
        if let Some(longest) = plan.clip {
            clip(&variables, &mut gradients, longest)?;
        }
        optimizer.step(&gradients)?;
        progress.step(plan.batch, value);
        let done = step + 1;
        if done == plan.steps || done.is_multiple_of(plan.steps.div_ceil(MEASUREMENTS)) {
            metrics = learner.measure()?;
            log.add(Reached { step: done, seconds: so_far() }, Some(value), &metrics)?;
            progress.say(&format!("step {done}: {}", words(&metrics)));
        }
        if saved.elapsed() >= *options.checkpoint_every {
            let reached = Reached { step: done, seconds: so_far() };
            checkpoint::write(&checkpoint, &run, reached, &lesson.parameters)?;
            saved = Instant::now();
        }
    }
    if metrics.is_empty() {
        // All steps were done before.
        metrics = learner.measure()?;
    }
    let weights = lesson.weights(so_far(), &metrics)?;
    (lesson.finish)(weights)?.write(&options.out)?;
    if checkpoint.exists() {
        std::fs::remove_file(&checkpoint).context("checkpoint")?;
    }
    Ok(())
}

/// A part of the highest learning rate: up in a line, down in a cosine.
fn schedule(step: u64, steps: u64) -> f64 {
    let warm_up = WARM_UP.min(steps / 10 + 1);
    if step < warm_up {
        return (step + 1) as f64 / warm_up as f64;
    }
    let done = (step - warm_up) as f64 / (steps - warm_up).max(1) as f64;
    LEAST_RATE + (1.0 - LEAST_RATE) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
}

/// Shortens the gradient of all parameters together to `longest`.
fn clip(variables: &[Var], gradients: &mut GradStore, longest: f64) -> Result<()> {
    let mut squares = 0.0;
    for gradient in variables.iter().filter_map(|variable| gradients.get(variable)) {
        squares += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
    }
    let length = squares.sqrt();
    if length > longest {
        for variable in variables {
            if let Some(gradient) = gradients.get(variable) {
                let shortened: Tensor = (gradient * (longest / length))?;
                gradients.insert(variable, shortened);
            }
        }
    }
    Ok(())
}

fn words(metrics: &[(&'static str, f64)]) -> String {
    let words: Vec<_> = metrics.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

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

    #[test]
    fn long_gradients_are_shortened_and_short_ones_left() -> Result<()> {
        let variables = [3f32, 4.0].map(|value| Var::new(value, &Device::Cpu));
        let [x, y] = variables;
        let (x, y) = (x?, y?);
        for (longest, expected) in [(5.0, [3.0, 4.0]), (15.0, [6.0, 8.0])] {
            // The gradient of x² + y² is (6, 8), of length 10.
            let mut gradients = (x.sqr()? + y.sqr()?)?.backward()?;
            clip(&[x.clone(), y.clone()], &mut gradients, longest)?;
            for (variable, expected) in [(&x, expected[0]), (&y, expected[1])] {
                let found = gradients.get(variable).context("tracked")?.to_scalar::<f32>()?;
                assert!((found - expected).abs() < 1e-5, "{found}");
            }
        }
        Ok(())
    }
}
