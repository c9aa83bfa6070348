//! Optimiser steps on the rows of the feature table that a batch uses, and only on these.
//!
//! Each piece's row is the sum of its own values and of parts shared with other rows of the same
//! piece on the same square (the factoriser), so that rare rows benefit from common ones. The
//! moments of an unused row do not change. Its sum in the table that the network reads is only
//! updated when a batch uses the row.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use azimuth_network::embedding_bag::{GradientSink, RowGradients};
use azimuth_network::sparse::features::{FeatureBatch, FeatureSet};
use azimuth_search::encoder::sparse::largest_playable_value;
use candle_core::{DType, Device, Tensor, Var};
use multiversion::multiversion;

use super::{MovingSlice, Step};
use crate::cpu::{change_in_place, side_by_side};
use crate::ranks::{Ranks, sum_rows};
use crate::training::Checkpoint;

/// The feature table in training on the CPU.
pub struct FactoredTable {
    set: FeatureSet,
    width: usize,
    own: Moving,
    shared: Moving,
    /// The gradients of the shared parts, one for each share of the rows.
    shared_gradients: Vec<RowGradients>,
    /// The sums, valid only in the rows of the last [`Self::prepare`].
    table: Var,
    /// The gradients, one for each part of a batch.
    sinks: Vec<GradientSink>,
}

impl FactoredTable {
    /// Initialises the shared parts of pieces on squares, which come first, with `shared`, and
    /// everything else with zeros. Gradients come in `parts`.
    pub fn new(set: FeatureSet, width: usize, parts: usize, mut shared: Vec<f32>) -> Result<Self> {
        let (rows, shared_rows) = (set.rows(), set.shared_rows());
        shared.resize(shared_rows * width, 0.0);
        let gradients = |rows| (0..parts.max(1)).map(move |_| RowGradients::new(rows, width));
        Ok(Self {
            set,
            width,
            own: Moving::new(vec![0.0; rows * width]),
            shared: Moving::new(shared),
            shared_gradients: gradients(shared_rows).collect(),
            table: Var::zeros((rows, width), DType::F32, &Device::Cpu)?,
            sinks: gradients(rows).map(|rows| Arc::new(Mutex::new(rows))).collect(),
        })
    }

    /// Sets the rows' own values to `rows` (rows x H), and the shared parts to zero.
    pub fn begin(&mut self, rows: &Tensor) -> Result<()> {
        self.own.values = rows.flatten_all()?.to_vec1()?;
        self.shared.values.fill(0.0);
        Ok(())
    }

    /// The table that the network reads. Only the rows of the last [`Self::prepare`] are valid.
    pub fn table(&self) -> &Tensor {
        self.table.as_tensor()
    }

    pub fn sink(&self, part: usize) -> &GradientSink {
        &self.sinks[part]
    }

    /// Replaces the gradients by the sum of those of all ranks.
    pub fn sum(&self, ranks: &dyn Ranks) -> Result<()> {
        sum_rows(ranks, &mut self.locked(), self.width)
    }

    pub fn squared_gradient(&self) -> f64 {
        let sinks = self.locked();
        let squared = |row: u32| {
            let place = row as usize * self.width..(row as usize + 1) * self.width;
            let value = |index| sinks.iter().map(|sink| sink.values()[index]).sum::<f32>();
            f64::from(place.map(|index| value(index).powi(2)).sum::<f32>())
        };
        rows_of(&sinks).into_iter().map(squared).sum()
    }

    /// Updates the rows that have gradients, with one thread for each part of a batch.
    pub fn step(&mut self, step: Step) {
        let Self { set, width, own, shared, shared_gradients, sinks, .. } = self;
        let (set, width) = (*set, *width);
        let mut sinks: Vec<_> = sinks.iter().map(lock).collect();
        let rows = rows_of(&sinks);
        let mut gradients: Vec<Vec<f32>> = sinks.iter_mut().map(|sink| sink.take()).collect();

        let mut left: Vec<&mut [f32]> = gradients.iter_mut().map(Vec::as_mut_slice).collect();
        let (mut own, mut first) = (own.all(), 0);
        let mut shares = Vec::new();
        for (rows, shared) in
            rows.chunks(share_size(rows.len(), left.len())).zip(&mut *shared_gradients)
        {
            let end = rows.last().map_or(first, |&row| row as usize + 1);
            let middle = (end - first) * width;
            let (here, after) = own.split_at(middle);
            own = after;
            let halves = left.into_iter().map(|left| left.split_at_mut(middle));
            let (gradients, after) = halves.unzip();
            left = after;
            shares.push(RowShare { first, rows, own: here, gradients, shared });
            first = end;
        }
        side_by_side(shares, |share: RowShare<'_>| share.step(set, width, step));

        for (sink, gradients) in sinks.iter_mut().zip(gradients) {
            sink.put_back(gradients);
        }
        let Some((sums, others)) = shared_gradients.split_first_mut() else { return };
        others.iter_mut().for_each(|other| other.drain(|part, gradient| sums.add(part, gradient)));
        let mut shared = shared.all();
        sums.drain(|part, gradient| shared.step(part, gradient, step));
    }

    fn locked(&self) -> Vec<MutexGuard<'_, RowGradients>> {
        self.sinks.iter().map(lock).collect()
    }

    /// Updates the sums of the rows that a batch reads.
    pub fn prepare<'a>(&self, parts: impl Iterator<Item = &'a FeatureBatch>) -> Result<()> {
        let mut wanted = vec![false; self.set.rows()];
        let rows = parts.flat_map(|features| features.rows());
        rows.for_each(|&row| wanted[usize::from(row)] = true);
        self.refresh((0..wanted.len()).filter(|&row| wanted[row]))
    }

    /// The whole table, with all sums updated.
    pub fn whole(&self) -> Result<Tensor> {
        self.refresh(0..self.set.rows())?;
        Ok(self.table().copy()?)
    }

    /// Recomputes the sums of `rows`, with one thread for each part of a batch.
    fn refresh(&self, rows: impl Iterator<Item = usize>) -> Result<()> {
        let rows: Vec<usize> = rows.collect();
        Ok(change_in_place(&self.table, |table| {
            let (mut left, mut first) = (table, 0);
            let mut shares = Vec::new();
            for rows in rows.chunks(share_size(rows.len(), self.sinks.len())) {
                let end = rows.last().map_or(first, |row| row + 1);
                let (here, after) = left.split_at_mut((end - first) * self.width);
                left = after;
                shares.push((rows, first, here));
                first = end;
            }
            side_by_side(shares, |(rows, first, table): (&[usize], usize, &mut [f32])| {
                rows.iter().for_each(|&row| {
                    self.sum_row(row, &mut table[(row - first) * self.width..][..self.width]);
                });
            });
        })?)
    }

    /// Computes the sum that the network reads for a row.
    fn sum_row(&self, row: usize, sums: &mut [f32]) {
        sums.copy_from_slice(&self.own.values[row * self.width..][..self.width]);
        for part in self.set.shared(row) {
            let shared = &self.shared.values[part * self.width..][..self.width];
            sums.iter_mut().zip(shared).for_each(|(sum, value)| *sum += value);
        }
        let largest = largest_playable_value(self.set, row);
        sums.iter_mut().for_each(|sum| *sum = sum.clamp(-largest, largest));
    }

    /// The own and shared values and their moments, for a checkpoint.
    pub fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let mut state = Vec::new();
        for (name, Moving { values, first, second }) in
            [("own", &self.own), ("shared", &self.shared)]
        {
            for (kind, values) in [("values", values), ("first", first), ("second", second)] {
                let shape = (values.len() / self.width, self.width);
                let tensor = Tensor::from_slice(values, shape, &Device::Cpu)?;
                state.push((format!("table.{name}.{kind}"), tensor));
            }
        }
        Ok(state)
    }

    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        for (name, part) in [("own", &mut self.own), ("shared", &mut self.shared)] {
            let values = |kind: &str| -> Result<Vec<f32>> {
                let tensor = checkpoint.tensor(&format!("table.{name}.{kind}"))?;
                Ok(tensor.flatten_all()?.to_vec1()?)
            };
            part.values = values("values")?;
            part.first = values("first")?;
            part.second = values("second")?;
        }
        Ok(())
    }
}

/// A contiguous range of rows that one thread updates.
struct RowShare<'a> {
    /// The index of the first row.
    first: usize,
    /// The rows that have a gradient.
    rows: &'a [u32],
    own: MovingSlice<'a>,
    /// The table's gradients, one for each part of the batch.
    gradients: Vec<&'a mut [f32]>,
    /// The gradients of the shared parts, from these rows.
    shared: &'a mut RowGradients,
}

impl RowShare<'_> {
    fn step(mut self, set: FeatureSet, width: usize, step: Step) {
        let Some((sums, others)) = self.gradients.split_first_mut() else { return };
        for &row in self.rows {
            let row = row as usize;
            let place = (row - self.first) * width..(row - self.first + 1) * width;
            let gradient = &mut sums[place.clone()];
            for other in &mut *others {
                add_and_clear(gradient, &mut other[place.clone()]);
            }
            self.own.step(row - self.first, gradient, step);
            set.shared(row).for_each(|part| self.shared.add(part, gradient));
            gradient.fill(0.0);
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn add_and_clear(sum: &mut [f32], other: &mut [f32]) {
    for (sum, other) in sum.iter_mut().zip(other) {
        *sum += std::mem::take(other);
    }
}

fn lock(sink: &GradientSink) -> MutexGuard<'_, RowGradients> {
    sink.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rows that have a gradient in any of `sinks`, in ascending order.
fn rows_of(sinks: &[MutexGuard<'_, RowGradients>]) -> Vec<u32> {
    let mut rows: Vec<u32> = sinks.iter().flat_map(|sink| sink.rows()).copied().collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// The number of rows in each of `shares` equal shares.
fn share_size(rows: usize, shares: usize) -> usize {
    rows.div_ceil(shares.max(1)).max(1)
}

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

    fn all(&mut self) -> MovingSlice<'_> {
        let Self { values, first, second } = self;
        MovingSlice { values, first, second }
    }
}
