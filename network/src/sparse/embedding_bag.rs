//! The embedding bag, feature sums and their activations as one operation: for every position the rows of its
//! active features, added up, clipped and squared.
//!
//! Its backward pass writes only the rows that were present and hands them over in a [`RowGradients`] instead of a
//! gradient as large as the table. That is for the CPU; for devices see [`super::device_sums`].

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};
use multiversion::multiversion;

use super::features::FeatureBatch;
use crate::tensor_slices::{values, with_values};

/// Gradient of an embedding table: only the rows that some position used.
#[derive(Debug)]
pub struct RowGradients {
    width: usize,
    values: Vec<f32>,
    touched: Vec<bool>,
    rows: Vec<u32>,
}

impl RowGradients {
    /// No gradient yet, for a table of `rows` x `width`.
    pub fn new(rows: usize, width: usize) -> Self {
        let values = vec![0.0; rows * width];
        Self { width, values, touched: vec![false; rows], rows: Vec::new() }
    }

    /// Gives every row that was present to `visit` with its gradient, lowest first, and empties.
    pub fn drain(&mut self, mut visit: impl FnMut(usize, &mut [f32])) {
        self.rows.sort_unstable();
        for row in self.rows.drain(..).map(|row| row as usize) {
            let gradient = &mut self.values[row * self.width..][..self.width];
            visit(row, gradient);
            gradient.fill(0.0);
            self.touched[row] = false;
        }
    }

    /// The rows that were present, each once, in any order.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// All gradients (rows x width); those of rows not present are 0.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Takes all gradients out (rows x width), until [`Self::put_back`]; no row is present any more.
    pub fn take(&mut self) -> Vec<f32> {
        for row in self.rows.drain(..) {
            self.touched[row as usize] = false;
        }
        std::mem::take(&mut self.values)
    }

    /// Puts back what [`Self::take`] took, zero again.
    pub fn put_back(&mut self, values: Vec<f32>) {
        self.values = values;
    }

    /// Adds to the gradient of a row.
    pub fn add(&mut self, row: usize, gradient: &[f32]) {
        self.touch(row);
        let sums = &mut self.values[row * self.width..][..self.width];
        sums.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value);
    }

    fn touch(&mut self, row: usize) {
        if !std::mem::replace(&mut self.touched[row], true) {
            self.rows.push(row as u32);
        }
    }
}

/// Where the backward passes of a table leave its gradient.
pub type GradientSink = Arc<Mutex<RowGradients>>;

/// Activations of the feature sums: `clamp(x, 0, 1)²` of the sums of the active rows of `table`
/// (rows x H) plus `bias` (H) for each position, side to move first: batch x 2H. `sink` takes the
/// gradient of the table.
pub fn activated_bag(
    table: &Tensor,
    bias: &Tensor,
    features: &Arc<FeatureBatch>,
    sink: Option<&GradientSink>,
) -> Result<Tensor> {
    let width = table.dim(1)?;
    let op = ActivatedBag { features: features.clone(), sink: sink.cloned() };
    let activations = table.contiguous()?.apply_op2(&bias.contiguous()?, op)?;
    activations.reshape((features.len(), 2 * width))
}

struct ActivatedBag {
    features: Arc<FeatureBatch>,
    sink: Option<GradientSink>,
}

impl CustomOp2 for ActivatedBag {
    fn name(&self) -> &'static str {
        "activated-bag"
    }

    fn cpu_fwd(
        &self,
        table: &CpuStorage,
        table_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let table = values(table, table_layout)?;
        let bias = values(bias, bias_layout)?;
        let mut sums = vec![0.0; self.features.len() * 2 * bias.len()];
        sum_rows(&self.features, table, bias, &mut sums);
        activate(&mut sums);
        Ok((CpuStorage::F32(sums), (self.features.len() * 2, bias.len()).into()))
    }

    fn bwd(
        &self,
        _table: &Tensor,
        bias: &Tensor,
        activations: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let mut bias_slopes = vec![0.0; bias.elem_count()];
        let mut slopes = gradient.flatten_all()?.to_vec1::<f32>()?;
        with_values([activations], |[activations]| activation_slopes(activations, &mut slopes))?;
        sum_columns(&slopes, &mut bias_slopes);
        if let Some(sink) = &self.sink {
            let mut rows = sink.lock().unwrap_or_else(PoisonError::into_inner);
            self.features.rows().iter().for_each(|&row| rows.touch(row.into()));
            add_to_rows(&self.features, &slopes, &mut rows.values);
        }
        Ok((None, Some(Tensor::from_vec(bias_slopes, bias.shape(), bias.device())?)))
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sum_rows(features: &FeatureBatch, table: &[f32], bias: &[f32], sums: &mut [f32]) {
    let width = bias.len();
    for (features, sums) in features.iter().zip(sums.chunks_exact_mut(2 * width)) {
        let (own, other) = sums.split_at_mut(width);
        for (rows, sum) in [(features.own, own), (features.other, other)] {
            sum.copy_from_slice(bias);
            for &row in rows {
                let row = &table[usize::from(row) * width..][..width];
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn add_to_rows(features: &FeatureBatch, gradient: &[f32], table: &mut [f32]) {
    let width = gradient.len() / (2 * features.len().max(1));
    for (features, gradient) in features.iter().zip(gradient.chunks_exact(2 * width)) {
        let (own, other) = gradient.split_at(width);
        for (rows, gradient) in [(features.own, own), (features.other, other)] {
            for &row in rows {
                let row = &mut table[usize::from(row) * width..][..width];
                row.iter_mut().zip(gradient).for_each(|(row, value)| *row += value);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sum_columns(rows: &[f32], sums: &mut [f32]) {
    for row in rows.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn activate(sums: &mut [f32]) {
    sums.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0).powi(2));
}

/// `d clamp(x, 0, 1)² / dx` is `2x` inside and 0 outside, and inside x is the root of the activation.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn activation_slopes(activations: &[f32], slopes: &mut [f32]) {
    for (slope, &activation) in slopes.iter_mut().zip(activations) {
        *slope *= if activation < 1.0 { 2.0 * activation.sqrt() } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use azimuth_chess::placement::Placement;
    use candle_core::{Device, Var};

    use super::*;
    use crate::sparse::features::FeatureSet;

    /// The same sum from candle's operations: rows gathered with padding, then added up.
    fn composed(table: &Tensor, features: &FeatureBatch) -> Result<Tensor> {
        let (rows, width) = table.dims2()?;
        let longest = features.iter().map(|features| features.own.len()).max().unwrap_or(0);
        let mut ids = vec![rows as u32; features.len() * 2 * longest];
        for (bag, sides) in ids.chunks_exact_mut(2 * longest.max(1)).zip(features.iter()) {
            let (own, other) = bag.split_at_mut(longest);
            own.iter_mut().zip(sides.own).for_each(|(id, &row)| *id = row.into());
            other.iter_mut().zip(sides.other).for_each(|(id, &row)| *id = row.into());
        }
        let ids = Tensor::from_vec(ids, features.len() * 2 * longest, table.device())?;
        let padding = Tensor::zeros((1, width), table.dtype(), table.device())?;
        Tensor::cat(&[table, &padding], 0)?
            .index_select(&ids, 0)?
            .reshape((features.len() * 2, longest, width))?
            .sum(1)
    }

    #[test]
    fn values_and_gradients_equal_those_of_candles_operations() -> anyhow::Result<()> {
        let set = FeatureSet::ATTACK_STATES;
        let mut features = FeatureBatch::new(set);
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "4k3/8/8/3q4/4P3/4K3/8/8 b - - 0 1",
        ] {
            features.push(&Placement::of(&fen.parse().expect("valid")));
        }
        let features = Arc::new(features);
        let width = 4;
        let wave = |count: usize, step: f32, scale: f32| -> Vec<f32> {
            (0..count).map(|index| (index as f32 * step).sin() * scale).collect()
        };
        // Sums on both sides of both clips.
        let table = wave(set.rows() * width, 1.7, 0.2);
        let table = Var::from_vec(table, (set.rows(), width), &Device::Cpu)?;
        let bias = Var::from_vec(vec![0.5f32, 0.1, 0.9, 0.3], width, &Device::Cpu)?;
        let slopes = wave(2 * 2 * width, 0.9, 1.0);
        let slopes = Tensor::from_vec(slopes, (2, 2 * width), &Device::Cpu)?;

        let sink = Arc::new(Mutex::new(RowGradients::new(set.rows(), width)));
        let fused = activated_bag(&table, &bias, &features, Some(&sink))?;
        let sums = composed(&table, &features)?.broadcast_add(&bias)?;
        let expected = sums.clamp(0f32, 1f32)?.sqr()?.reshape((2, 2 * width))?;
        let error = (&fused - &expected)?.abs()?.max_all()?.to_scalar::<f32>()?;
        assert!(error < 1e-5, "{error}");
        let inside = expected.flatten_all()?.to_vec1::<f32>()?;
        assert!(
            inside.iter().any(|&a| a > 0.0 && a < 1.0)
                && inside.iter().any(|a| [0.0, 1.0].contains(a))
        );

        let found = (fused * &slopes)?.sum_all()?.backward()?;
        let known = (expected * &slopes)?.sum_all()?.backward()?;
        let gradient = |store: &candle_core::backprop::GradStore, var: &Var| {
            store.get(var).expect("tracked").flatten_all()?.to_vec1::<f32>()
        };
        let bias_pairs = gradient(&found, &bias)?.into_iter().zip(gradient(&known, &bias)?);
        bias_pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "bias: {a} {b}"));
        let mut rows = vec![0.0; set.rows() * width];
        sink.lock().unwrap_or_else(PoisonError::into_inner).drain(|row, gradient| {
            rows[row * width..][..width].copy_from_slice(gradient);
        });
        for (a, b) in rows.iter().zip(gradient(&known, &table)?) {
            assert!((a - b).abs() < 1e-4, "table: {a} {b}");
        }
        assert!(rows.iter().any(|slope| slope.abs() > 0.1));
        Ok(())
    }
}
