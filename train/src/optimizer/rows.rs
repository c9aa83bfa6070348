//! Optimiser steps on the rows of the feature table that a batch used, and on no others.
//!
//! Every row is the sum of its own values and of a row shared by all states of one piece on one
//! square (the factoriser). Moments of a row that was absent stay as they are.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, ensure};
use azimuth::encoder::sparse::bag::{GradientSink, RowGradients};
use azimuth::encoder::sparse::features::{FEATURES, PIECE_SQUARES, STATES};
use candle_core::{CpuStorage, Device, InplaceOp1, Layout, Tensor, Var, bail};
use multiversion::multiversion;

use super::{BETAS, EPSILON, MOMENTUM, Rule, Step};

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
            Rule::Sgd => sgd(values, first, gradient, step),
            Rule::Adamw => adamw(values, first, &mut self.second[range], gradient, step),
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sgd(values: &mut [f32], first: &mut [f32], gradient: &[f32], step: Step) {
    let (momentum, rate) = (MOMENTUM as f32, step.learning_rate as f32);
    for ((value, first), gradient) in values.iter_mut().zip(first).zip(gradient) {
        *first = momentum * *first + gradient;
        *value -= rate * *first;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn adamw(values: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32], step: Step) {
    let (beta1, beta2) = (BETAS.0 as f32, BETAS.1 as f32);
    let (rate, epsilon) = (step.learning_rate as f32, EPSILON as f32);
    let decay = 1.0 - rate * step.weight_decay as f32;
    let (scale1, scale2) = (1.0 / step.corrections.0 as f32, 1.0 / step.corrections.1 as f32);
    let moments = first.iter_mut().zip(second);
    for ((value, (first, second)), gradient) in values.iter_mut().zip(moments).zip(gradient) {
        *first = beta1 * *first + (1.0 - beta1) * gradient;
        *second = beta2 * *second + (1.0 - beta2) * gradient * gradient;
        *value = decay * *value - rate * *first * scale1 / ((*second * scale2).sqrt() + epsilon);
    }
}

/// The feature table in training on the CPU.
pub struct FactoredTable {
    width: usize,
    own: Moving,
    shared: Moving,
    /// The sum that the network reads.
    table: Var,
    sink: GradientSink,
}

impl FactoredTable {
    /// Begins at `table` (features x H), with nothing shared yet.
    pub fn new(table: &Tensor) -> Result<Self> {
        let (rows, width) = table.dims2()?;
        ensure!(rows == FEATURES, "the feature table has {rows} rows, expected {FEATURES}");
        Ok(Self {
            width,
            own: Moving::new(table.flatten_all()?.to_vec1()?),
            shared: Moving::new(vec![0.0; PIECE_SQUARES * width]),
            table: Var::from_tensor(table)?,
            sink: Arc::new(Mutex::new(RowGradients::new(rows, width))),
        })
    }

    /// The table that the network reads.
    pub fn table(&self) -> &Tensor {
        self.table.as_tensor()
    }

    /// Where backward passes leave the table's gradient.
    pub fn sink(&self) -> &GradientSink {
        &self.sink
    }

    /// Moves the rows whose gradient the last backward pass left.
    pub fn step(&mut self, step: Step) -> Result<()> {
        let width = self.width;
        let mut shared = vec![0.0; PIECE_SQUARES * width];
        let mut seen = vec![false; PIECE_SQUARES];
        self.sink.lock().unwrap_or_else(PoisonError::into_inner).drain(|row, gradient| {
            self.own.step(row, gradient, step);
            let piece_square = row % PIECE_SQUARES;
            seen[piece_square] = true;
            let shared = &mut shared[piece_square * width..][..width];
            shared.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += *value);
        });
        for row in (0..PIECE_SQUARES).filter(|&row| seen[row]) {
            self.shared.step(row, &shared[row * width..][..width], step);
        }
        self.refresh(&seen)
    }

    /// Sums own and shared rows again where `changed`.
    fn refresh(&mut self, changed: &[bool]) -> Result<()> {
        let write = |table: &mut [f32]| {
            for piece_square in (0..PIECE_SQUARES).filter(|&row| changed[row]) {
                let shared = &self.shared.values[piece_square * self.width..][..self.width];
                for state in 0..STATES {
                    let start = (state * PIECE_SQUARES + piece_square) * self.width;
                    let own = &self.own.values[start..start + self.width];
                    let sums = own.iter().zip(shared).map(|(own, shared)| own + shared);
                    table[start..start + self.width].iter_mut().zip(sums).for_each(|(t, s)| *t = s);
                }
            }
        };
        Ok(self.table.inplace_op1(&Write(RefCell::new(write)))?)
    }

    /// Both parts and their moments, for a checkpoint.
    pub fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let mut state = Vec::new();
        for (name, part, rows) in
            [("own", &self.own, FEATURES), ("shared", &self.shared, PIECE_SQUARES)]
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
        self.refresh(&[true; PIECE_SQUARES])
    }
}

/// Changes a tensor's values where they are.
struct Write<F>(RefCell<F>);

impl<F: FnMut(&mut [f32])> InplaceOp1 for Write<F> {
    fn name(&self) -> &'static str {
        "write-rows"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> candle_core::Result<()> {
        let (CpuStorage::F32(values), Some((start, end))) = (storage, layout.contiguous_offsets())
        else {
            bail!("write-rows: expected a contiguous f32 tensor");
        };
        (self.0.borrow_mut())(&mut values[start..end]);
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
        for rule in [Rule::Sgd, Rule::Adamw] {
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
