//! Optimiser steps on the rows of the feature table that a batch used, and on no others.
//!
//! Every piece's row is the sum of its own values and of parts that it shares with other rows of the
//! same piece on the same square (the factoriser), so that what is rare begins at what is common. Moments of a row that was absent stay as they are, and so does its
//! place in the table that the network reads, until a batch asks for it.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use azimuth::encoder::sparse::embedding_bag::{GradientSink, RowGradients};
use azimuth::encoder::sparse::features::{FeatureBatch, FeatureSet, PIECE_SQUARES};
use candle_core::{DType, Device, Tensor, Var};
use multiversion::multiversion;

use super::{BETAS, EPSILON, MOMENTUM, OptimizerKind, Step};
use crate::in_place::change_in_place;

/// Values with the moments of their gradients.
struct Moving {
    values: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Moving {
    fn new(values: Vec<f32>) -> Self {
        let zeros = vec![0.0; values.len()];
        Self { first: zeros.clone(), second: zeros, values }
    }

    fn step(&mut self, row: usize, gradient: &[f32], step: Step) {
        let range = row * gradient.len()..(row + 1) * gradient.len();
        let (values, first) = (&mut self.values[range.clone()], &mut self.first[range.clone()]);
        match step.rule {
            OptimizerKind::Sgd => sgd(values, first, gradient, step),
            OptimizerKind::Adamw => adamw(values, first, &mut self.second[range], gradient, step),
        }
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

/// The feature table in training on the CPU.
pub struct FactoredTable {
    set: FeatureSet,
    width: usize,
    own: Moving,
    shared: Moving,
    shared_gradients: RowGradients,
    /// The sum that the network reads, right in the rows asked for last.
    table: Var,
    sink: GradientSink,
}

impl FactoredTable {
    /// Begins with shared parts drawn by `draw`, which gives as many values as it is asked for, and
    /// with nothing of their own for the rows.
    pub fn new(
        set: FeatureSet,
        width: usize,
        draw: impl FnOnce(usize) -> Result<Vec<f32>>,
    ) -> Result<Self> {
        let (rows, shared_rows) = (set.rows(), set.shared_rows());
        let mut shared = draw(PIECE_SQUARES * width)?;
        shared.resize(shared_rows * width, 0.0);
        Ok(Self {
            set,
            width,
            own: Moving::new(vec![0.0; rows * width]),
            shared: Moving::new(shared),
            shared_gradients: RowGradients::new(shared_rows, width),
            table: Var::zeros((rows, width), DType::F32, &Device::Cpu)?,
            sink: Arc::new(Mutex::new(RowGradients::new(rows, width))),
        })
    }

    /// The table that the network reads. Only the rows of the last [`Self::prepare`] are right.
    pub fn table(&self) -> &Tensor {
        self.table.as_tensor()
    }

    /// Where backward passes leave the table's gradient.
    pub fn sink(&self) -> &GradientSink {
        &self.sink
    }

    /// The square root of what this sums up over all gradients is their length.
    pub fn squared_gradient(&self) -> f64 {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner).squared()
    }

    /// Moves the rows whose gradient the last backward pass left.
    pub fn step(&mut self, step: Step) {
        let Self { set, own, shared, shared_gradients, sink, .. } = self;
        sink.lock().unwrap_or_else(PoisonError::into_inner).drain(|row, gradient| {
            own.step(row, gradient, step);
            set.shared(row).for_each(|part| shared_gradients.add(part, gradient));
        });
        shared_gradients.drain(|part, gradient| shared.step(part, gradient, step));
    }

    /// Brings the rows that a batch reads up to date.
    pub fn prepare(&self, features: &FeatureBatch) -> Result<()> {
        let mut wanted = vec![false; self.set.rows()];
        features.rows().iter().for_each(|&row| wanted[usize::from(row)] = true);
        self.refresh((0..wanted.len()).filter(|&row| wanted[row]))
    }

    /// The whole table, up to date.
    pub fn whole(&self) -> Result<Tensor> {
        self.refresh(0..self.set.rows())?;
        Ok(self.table().copy()?)
    }

    /// Sums own and shared rows again.
    fn refresh(&self, mut rows: impl Iterator<Item = usize>) -> Result<()> {
        Ok(change_in_place(&self.table, |table| {
            for row in rows.by_ref() {
                let place = row * self.width..(row + 1) * self.width;
                let sums = &mut table[place.clone()];
                sums.copy_from_slice(&self.own.values[place]);
                for part in self.set.shared(row) {
                    let shared = &self.shared.values[part * self.width..][..self.width];
                    sums.iter_mut().zip(shared).for_each(|(sum, value)| *sum += value);
                }
            }
        })?)
    }

    /// Both parts and their moments, for a checkpoint.
    pub fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let mut state = Vec::new();
        for (name, part, rows) in
            [("own", &self.own, self.set.rows()), ("shared", &self.shared, self.set.shared_rows())]
        {
            for (kind, values) in
                [("values", &part.values), ("first", &part.first), ("second", &part.second)]
            {
                let tensor = Tensor::from_slice(values, (rows, self.width), &Device::Cpu)?;
                state.push((format!("table.{name}.{kind}"), tensor));
            }
        }
        Ok(state)
    }

    /// Puts back what [`Self::state`] gave.
    pub fn restore(&mut self, take: &dyn Fn(&str) -> Result<Tensor>) -> Result<()> {
        for (name, part) in [("own", &mut self.own), ("shared", &mut self.shared)] {
            let values = |kind: &str| -> Result<Vec<f32>> {
                Ok(take(&format!("table.{name}.{kind}"))?.flatten_all()?.to_vec1()?)
            };
            part.values = values("values")?;
            part.first = values("first")?;
            part.second = values("second")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::backprop::GradStore;

    use super::*;
    use crate::optimizer::{Schedule, dense::DenseOptimizer};

    fn gradients(variable: &Var, gradient: &[f32]) -> Result<GradStore> {
        let slope = Tensor::from_slice(gradient, gradient.len(), &Device::Cpu)?;
        Ok((variable.as_tensor() * slope)?.sum_all()?.backward()?)
    }

    #[test]
    fn rows_and_tensors_move_alike() -> Result<()> {
        for rule in [OptimizerKind::Sgd, OptimizerKind::Adamw] {
            let schedule =
                Schedule { rule, learning_rate: 0.1, warmup: 3, steps: 9, weight_decay: 0.01 };
            let start = vec![0.5, -1.0, 2.0, 0.0];
            let variable = Var::from_slice(&start, 4, &Device::Cpu)?;
            let mut dense = DenseOptimizer::new([("x".to_owned(), variable.clone())])?;
            let mut moving = Moving::new(start);
            for index in 0..9 {
                let gradient = [0.3, -0.2 * index as f32, 0.01, 1.0 - index as f32];
                dense.step(&gradients(&variable, &gradient)?, schedule.step(index))?;
                moving.step(0, &gradient, schedule.step(index));
            }
            for (dense, row) in variable.to_vec1::<f32>()?.iter().zip(&moving.values) {
                assert!((dense - row).abs() < 1e-5, "{rule:?}: {dense} {row}");
            }
        }
        Ok(())
    }
}
