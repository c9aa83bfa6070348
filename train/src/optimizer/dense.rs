//! Optimiser steps on dense tensors, on any device: on the CPU in one pass, elsewhere by candle's
//! operations.

use std::collections::BTreeMap;

use anyhow::Result;
use azimuth_network::tensor_slices::with_values;
use candle_core::{DType, Tensor, Var, backprop::GradStore};

use super::moving::MovingSlice;
use super::{BETAS, EPSILON, MOMENTUM, OptimizerKind, Step};
use crate::in_place::change_in_place;
use crate::training::Checkpoint;

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
                        MovingSlice::new(values, first, second).step(0, gradient, step);
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

    #[test]
    fn moments_keep_no_earlier_tensors() -> Result<()> {
        // On the CPU, as on a device, f64 is updated by candle's operations.
        let variable = Var::new(&[1f64, 2.0], &Device::Cpu)?;
        let mut optimizer = DenseOptimizer::new([("variable".to_owned(), variable.clone())])?;
        for rule in [OptimizerKind::Sgd, OptimizerKind::Adamw] {
            let gradients = variable.sqr()?.sum_all()?.backward()?;
            assert!(gradients.get(&variable).is_some_and(Tensor::track_op));
            optimizer.step(&gradients, Step { rule, ..Step::adamw(0, 0.1, 0.0) })?;
            let mut moments = optimizer.state().filter(|(name, _)| name != "variable");
            assert!(moments.all(|(_, moment)| !moment.track_op()), "{rule:?}");
        }
        assert_ne!(variable.to_vec1::<f64>()?, [1.0, 2.0]);
        Ok(())
    }
}
