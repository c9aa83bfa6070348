//! Optimisers: the paper's SGD with momentum, and AdamW with warm-up, on dense tensors and on the
//! rows of a table. Learning-rate schedules.

pub(crate) mod rows;

use std::collections::BTreeMap;

use anyhow::Result;
use azimuth_network::tensor_slices::with_values;
use candle_core::backprop::GradStore;
use candle_core::{DType, Tensor, Var};
use clap::ValueEnum;
use multiversion::multiversion;
use serde::{Deserialize, Serialize};

use crate::cpu::change_in_place;
use crate::training::Checkpoint;

/// The update rule of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimizerKind {
    /// SGD with momentum 0.9 (the paper).
    Sgd,
    /// AdamW with linear warm-up.
    Adamw,
}

/// Learning rates: AdamW's rise linearly and decay by a cosine; SGD's are constant (the paper).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The update rule.
    pub rule: OptimizerKind,
    /// The peak learning rate.
    pub learning_rate: f64,
    /// Number of steps of linear warm-up (AdamW).
    pub warmup: u64,
    /// Number of steps of the run.
    pub steps: u64,
    /// Decoupled weight decay (AdamW).
    pub weight_decay: f64,
}

const MOMENTUM: f64 = 0.9;
const BETAS: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-8;

/// The factors of one step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    rule: OptimizerKind,
    learning_rate: f64,
    weight_decay: f64,
    /// Divisors that correct the bias of the moments, which start from 0.
    corrections: (f64, f64),
    /// Factor of the gradients (clipping).
    scale: f64,
}

impl Step {
    /// The step with the gradient clipped to the norm `clip`; `squared` computes its squared norm.
    pub fn clipped(self, clip: Option<f64>, squared: impl FnOnce() -> Result<f64>) -> Result<Self> {
        let Some(longest) = clip else { return Ok(self) };
        let scale = (longest / squared()?.sqrt().max(f64::MIN_POSITIVE)).min(1.0);
        Ok(Self { scale, ..self })
    }
}

impl Schedule {
    /// The learning rate of step `index`, counted from 0.
    pub fn learning_rate(&self, index: u64) -> f64 {
        self.step(index).learning_rate
    }

    /// The factors of step `index`, counted from 0.
    pub fn step(&self, index: u64) -> Step {
        let factor = match self.rule {
            OptimizerKind::Sgd => 1.0,
            OptimizerKind::Adamw => {
                let warm = ((index + 1) as f64 / self.warmup.max(1) as f64).min(1.0);
                let done = (index as f64 / self.steps.max(1) as f64).min(1.0);
                warm * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
            }
        };
        let corrected = |beta: f64| 1.0 - beta.powf((index + 1) as f64);
        Step {
            rule: self.rule,
            learning_rate: self.learning_rate * factor,
            weight_decay: self.weight_decay,
            corrections: (corrected(BETAS.0), corrected(BETAS.1)),
            scale: 1.0,
        }
    }
}

/// Rows of values with the moments of their gradients.
struct MovingSlice<'a> {
    values: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
}

impl MovingSlice<'_> {
    /// Updates a row, counted from the first of the slice, by its gradient.
    fn step(&mut self, row: usize, gradient: &[f32], step: Step) {
        let range = row * gradient.len()..(row + 1) * gradient.len();
        let (values, first) = (&mut self.values[range.clone()], &mut self.first[range.clone()]);
        match step.rule {
            OptimizerKind::Sgd => sgd(values, first, gradient, step),
            OptimizerKind::Adamw => adamw(values, first, &mut self.second[range], gradient, step),
        }
    }

    /// Splits the slice after the first `middle` values.
    fn split_at(self, middle: usize) -> (Self, Self) {
        let (values, values_after) = self.values.split_at_mut(middle);
        let (first, first_after) = self.first.split_at_mut(middle);
        let (second, second_after) = self.second.split_at_mut(middle);
        let after = Self { values: values_after, first: first_after, second: second_after };
        (Self { values, first, second }, after)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sgd(values: &mut [f32], first: &mut [f32], gradient: &[f32], step: Step) {
    let (momentum, rate) = (MOMENTUM as f32, step.learning_rate as f32);
    let scale = step.scale as f32;
    for ((value, first), gradient) in values.iter_mut().zip(first).zip(gradient) {
        *first = momentum * *first + scale * gradient;
        *value -= rate * *first;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn adamw(values: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32], step: Step) {
    let (beta1, beta2) = (BETAS.0 as f32, BETAS.1 as f32);
    let (rate, epsilon) = (step.learning_rate as f32, EPSILON as f32);
    let decay = 1.0 - rate * step.weight_decay as f32;
    let (scale1, scale2) = (1.0 / step.corrections.0 as f32, 1.0 / step.corrections.1 as f32);
    let (moments, scale) = (first.iter_mut().zip(second), step.scale as f32);
    for ((value, (first, second)), gradient) in values.iter_mut().zip(moments).zip(gradient) {
        let gradient = scale * gradient;
        *first = beta1 * *first + (1.0 - beta1) * gradient;
        *second = beta2 * *second + (1.0 - beta2) * gradient * gradient;
        *value = decay * *value - rate * *first * scale1 / ((*second * scale2).sqrt() + epsilon);
    }
}

/// Named variables with the moments of their gradients.
pub struct DenseOptimizer {
    entries: BTreeMap<String, Entry>,
}

struct Entry {
    variable: Var,
    first: Tensor,
    second: Tensor,
}

impl Entry {
    /// A step in one pass, on the CPU in f32.
    fn step_in_place(&self, gradient: &Tensor, step: Step) -> Result<()> {
        with_values([gradient], |[gradient]| -> candle_core::Result<()> {
            let (mut of_second, mut of_first) = (Ok(()), Ok(()));
            change_in_place(&self.variable, |values| {
                of_first = change_in_place(&self.first, |first| {
                    of_second = change_in_place(&self.second, |second| {
                        MovingSlice { values, first, second }.step(0, gradient, step);
                    });
                });
            })?;
            of_first.and(of_second)
        })??;
        Ok(())
    }
}

impl DenseOptimizer {
    /// An optimiser of `variables`, with all moments 0.
    pub fn new(variables: impl IntoIterator<Item = (String, Var)>) -> Result<Self> {
        let mut entries = BTreeMap::new();
        for (name, variable) in variables {
            let (first, second) = (variable.zeros_like()?, variable.zeros_like()?);
            entries.insert(name, Entry { variable, first, second });
        }
        Ok(Self { entries })
    }

    /// The variables, in the order of their names.
    pub fn variables(&self) -> impl Iterator<Item = &Var> {
        self.entries.values().map(|entry| &entry.variable)
    }

    /// The squared norm of all gradients together.
    pub fn squared_gradient(&self, gradients: &GradStore) -> Result<f64> {
        let mut sum = 0.0;
        for gradient in self.entries.values().filter_map(|entry| gradients.get(&entry.variable)) {
            sum += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
        }
        Ok(sum)
    }

    /// Updates every variable by its gradient.
    pub fn step(&mut self, gradients: &GradStore, step: Step) -> Result<()> {
        for entry in self.entries.values_mut() {
            // The loss does not depend on this variable.
            let Some(gradient) = gradients.get(&entry.variable) else { continue };
            if entry.variable.device().is_cpu() && entry.variable.dtype() == DType::F32 {
                entry.step_in_place(gradient, step)?;
                continue;
            }
            // If candle tracked the moments, they would keep the tensors of all steps in memory.
            let gradient = gradient.detach();
            let gradient = if step.scale == 1.0 { gradient } else { (gradient * step.scale)? };
            let value = entry.variable.as_detached_tensor();
            let moved = match step.rule {
                OptimizerKind::Sgd => {
                    entry.first = ((&entry.first * MOMENTUM)? + gradient)?;
                    (value - (&entry.first * step.learning_rate)?)?
                }
                OptimizerKind::Adamw => {
                    let (beta1, beta2) = BETAS;
                    entry.first = ((&entry.first * beta1)? + (&gradient * (1.0 - beta1))?)?;
                    entry.second = ((&entry.second * beta2)? + (gradient.sqr()? * (1.0 - beta2))?)?;
                    let first = (&entry.first / step.corrections.0)?;
                    let second = (&entry.second / step.corrections.1)?;
                    let decayed = (value * (1.0 - step.learning_rate * step.weight_decay))?;
                    let direction = (first / (second.sqrt()? + EPSILON)?)?;
                    (decayed - (direction * step.learning_rate)?)?
                }
            };
            entry.variable.set(&moved)?;
        }
        Ok(())
    }

    /// Every variable and both its moments, for a checkpoint.
    pub fn state(&self) -> impl Iterator<Item = (String, Tensor)> {
        self.entries.iter().flat_map(|(name, entry)| {
            [
                (name.clone(), entry.variable.as_tensor().clone()),
                (format!("{name}.first"), entry.first.clone()),
                (format!("{name}.second"), entry.second.clone()),
            ]
        })
    }

    /// Restores a state from [`Self::state`].
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        for (name, entry) in &mut self.entries {
            let device = entry.variable.device().clone();
            let take =
                |name: &str| -> Result<Tensor> { Ok(checkpoint.tensor(name)?.to_device(&device)?) };
            entry.variable.set(&take(name)?)?;
            entry.first = take(&format!("{name}.first"))?;
            entry.second = take(&format!("{name}.second"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn schedule(rule: OptimizerKind) -> Schedule {
        Schedule { rule, learning_rate: 2.0, warmup: 4, steps: 100, weight_decay: 0.01 }
    }

    #[test]
    fn the_rate_rises_in_the_warm_up_and_falls_to_nothing() {
        let rates = |rule, steps: [u64; 4]| steps.map(|step| schedule(rule).learning_rate(step));
        let [first, half, end, after] = rates(OptimizerKind::Adamw, [0, 50, 100, 300]);
        assert!(first == 0.5 && (half - 1.0).abs() < 1e-9 && end == 0.0 && after == 0.0);
        assert_eq!(rates(OptimizerKind::Sgd, [0, 50, 99, 300]), [2.0; 4]);
    }

    #[test]
    fn long_gradients_are_cut_and_short_ones_left() -> Result<()> {
        let step = schedule(OptimizerKind::Adamw).step(0);
        for (clip, squared, expected) in [(5.0, 100.0, 0.5), (15.0, 100.0, 1.0), (5.0, 0.0, 1.0)] {
            assert_eq!(step.clipped(Some(clip), || Ok(squared))?.scale, expected);
        }
        let unasked = step.clipped(None, || anyhow::bail!("not needed"))?;
        assert_eq!(unasked.scale, 1.0);
        Ok(())
    }

    /// On the CPU, as on a device, f64 is updated by candle's operations.
    #[test]
    fn tensors_in_32_and_64_bits_move_alike() -> Result<()> {
        for rule in [OptimizerKind::Sgd, OptimizerKind::Adamw] {
            let schedule = Schedule { learning_rate: 0.1, warmup: 3, steps: 9, ..schedule(rule) };
            let moved = |dtype: DType| -> Result<Vec<f64>> {
                let start = Tensor::new(&[0.5f64, -1.0, 2.0, 0.0], &Device::Cpu)?;
                let variable = Var::from_tensor(&start.to_dtype(dtype)?)?;
                let mut optimizer = DenseOptimizer::new([("x".to_owned(), variable.clone())])?;
                for index in 0..9u32 {
                    let slopes = [0.3, -0.2 * f64::from(index), 0.01, 1.0 - f64::from(index)];
                    let slopes = Tensor::new(&slopes, &Device::Cpu)?.to_dtype(dtype)?;
                    let loss = (variable.as_tensor() * slopes)?.sum_all()?;
                    optimizer.step(&loss.backward()?, schedule.step(index.into()))?;
                }
                Ok(variable.to_dtype(DType::F64)?.to_vec1()?)
            };
            for (narrow, wide) in moved(DType::F32)?.iter().zip(moved(DType::F64)?) {
                assert!((narrow - wide).abs() < 1e-5, "{rule:?}: {narrow} {wide}");
            }
        }
        Ok(())
    }

    #[test]
    fn moments_keep_no_earlier_tensors() -> Result<()> {
        // On the CPU, as on a device, f64 is updated by candle's operations.
        let variable = Var::new(&[1f64, 2.0], &Device::Cpu)?;
        let mut optimizer = DenseOptimizer::new([("variable".to_owned(), variable.clone())])?;
        for rule in [OptimizerKind::Sgd, OptimizerKind::Adamw] {
            let gradients = variable.sqr()?.sum_all()?.backward()?;
            assert!(gradients.get(&variable).is_some_and(Tensor::track_op));
            optimizer.step(&gradients, schedule(rule).step(0))?;
            let mut moments = optimizer.state().filter(|(name, _)| name != "variable");
            assert!(moments.all(|(_, moment)| !moment.track_op()), "{rule:?}");
        }
        assert_ne!(variable.to_vec1::<f64>()?, [1.0, 2.0]);
        Ok(())
    }
}
