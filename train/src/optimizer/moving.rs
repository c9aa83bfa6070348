//! Rows of values that are updated individually: the values, the moments of their gradients, and
//! the two update rules.

use multiversion::multiversion;

use super::{BETAS, EPSILON, MOMENTUM, OptimizerKind, Step};

/// Values with the moments of their gradients.
pub struct Moving {
    pub values: Vec<f32>,
    pub first: Vec<f32>,
    pub second: Vec<f32>,
}

impl Moving {
    /// Values with all moments 0.
    pub fn new(values: Vec<f32>) -> Self {
        let zeros = vec![0.0; values.len()];
        Self { first: zeros.clone(), second: zeros, values }
    }

    /// All rows.
    pub fn all(&mut self) -> MovingSlice<'_> {
        MovingSlice::new(&mut self.values, &mut self.first, &mut self.second)
    }
}

/// Some rows of a [`Moving`].
pub struct MovingSlice<'a> {
    values: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
}

impl<'a> MovingSlice<'a> {
    /// Values with their moments.
    pub fn new(values: &'a mut [f32], first: &'a mut [f32], second: &'a mut [f32]) -> Self {
        Self { values, first, second }
    }

    /// Updates a row, counted from the first of the slice, by its gradient.
    pub fn step(&mut self, row: usize, gradient: &[f32], step: Step) {
        let range = row * gradient.len()..(row + 1) * gradient.len();
        let (values, first) = (&mut self.values[range.clone()], &mut self.first[range.clone()]);
        match step.rule {
            OptimizerKind::Sgd => sgd(values, first, gradient, step),
            OptimizerKind::Adamw => adamw(values, first, &mut self.second[range], gradient, step),
        }
    }

    /// Splits the slice after the first `middle` values.
    pub fn split_at(self, middle: usize) -> (Self, Self) {
        let (values, first, second) = (
            self.values.split_at_mut(middle),
            self.first.split_at_mut(middle),
            self.second.split_at_mut(middle),
        );
        (
            Self { values: values.0, first: first.0, second: second.0 },
            Self { values: values.1, first: first.1, second: second.1 },
        )
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

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use candle_core::backprop::GradStore;
    use candle_core::{Device, Tensor, Var};

    use super::*;
    use crate::optimizer::{Schedule, ScheduleShape, dense::DenseOptimizer};

    fn gradients(variable: &Var, gradient: &[f32]) -> Result<GradStore> {
        let slope = Tensor::from_slice(gradient, gradient.len(), &Device::Cpu)?;
        Ok((variable.as_tensor() * slope)?.sum_all()?.backward()?)
    }

    #[test]
    fn rows_and_tensors_move_alike() -> Result<()> {
        for rule in [OptimizerKind::Sgd, OptimizerKind::Adamw] {
            let schedule = Schedule {
                rule,
                learning_rate: 0.1,
                warmup: 3,
                steps: 9,
                weight_decay: 0.01,
                shape: ScheduleShape::Cosine,
            };
            let start = vec![0.5, -1.0, 2.0, 0.0];
            let variable = Var::from_slice(&start, 4, &Device::Cpu)?;
            let mut dense = DenseOptimizer::new([("x".to_owned(), variable.clone())])?;
            let mut moving = Moving::new(start);
            for index in 0..9 {
                let gradient = [0.3, -0.2 * index as f32, 0.01, 1.0 - index as f32];
                dense.step(&gradients(&variable, &gradient)?, schedule.step(index))?;
                moving.all().step(0, &gradient, schedule.step(index));
            }
            for (dense, row) in variable.to_vec1::<f32>()?.iter().zip(&moving.values) {
                assert!((dense - row).abs() < 1e-5, "{rule:?}: {dense} {row}");
            }
        }
        Ok(())
    }
}
