//! The feature sum as one operation: for every position the rows of its active features, added up.
//!
//! On the CPU its backward pass writes only the rows that were present and hands them over in a
//! [`RowGradients`] instead of a gradient as large as the table. Elsewhere the same sum is composed
//! of candle's own operations and its gradient is dense.

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};
use multiversion::multiversion;

use super::features::{Features, MAX_PIECES};
use crate::encoder::storage::{values, with_values};

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

    fn touch(&mut self, row: u16) {
        if !std::mem::replace(&mut self.touched[usize::from(row)], true) {
            self.rows.push(u32::from(row));
        }
    }
}

/// Where the backward passes of a table leave its gradient.
pub type GradientSink = Arc<Mutex<RowGradients>>;

/// Sums of the active rows of `table` (rows x H) plus `bias` (H) for each position, side to move
/// first: batch x 2H. `sink` takes the gradient of the table on the CPU.
pub fn embedding_bag(
    table: &Tensor,
    bias: &Tensor,
    features: &Arc<Vec<Features>>,
    sink: Option<&GradientSink>,
) -> Result<Tensor> {
    let width = table.dim(1)?;
    let sums = if table.device().is_cpu() {
        let op = EmbeddingBag { features: features.clone(), sink: sink.cloned() };
        table.contiguous()?.apply_op2(&bias.contiguous()?, op)?
    } else {
        composed(table, features)?.broadcast_add(bias)?
    };
    sums.reshape((features.len(), 2 * width))
}

/// The same sum from candle's operations: rows gathered with padding, then added up.
fn composed(table: &Tensor, features: &[Features]) -> Result<Tensor> {
    let (rows, width) = table.dims2()?;
    let mut ids = vec![rows as u32; features.len() * 2 * MAX_PIECES];
    for (bag, sides) in ids.chunks_exact_mut(2 * MAX_PIECES).zip(features) {
        let (own, other) = bag.split_at_mut(MAX_PIECES);
        own.iter_mut().zip(sides.own()).for_each(|(id, &row)| *id = row.into());
        other.iter_mut().zip(sides.other()).for_each(|(id, &row)| *id = row.into());
    }
    let ids = Tensor::from_vec(ids, features.len() * 2 * MAX_PIECES, table.device())?;
    let padding = Tensor::zeros((1, width), table.dtype(), table.device())?;
    Tensor::cat(&[table, &padding], 0)?
        .index_select(&ids, 0)?
        .reshape((features.len() * 2, MAX_PIECES, width))?
        .sum(1)
}

struct EmbeddingBag {
    features: Arc<Vec<Features>>,
    sink: Option<GradientSink>,
}

impl CustomOp2 for EmbeddingBag {
    fn name(&self) -> &'static str {
        "embedding-bag"
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
        Ok((CpuStorage::F32(sums), (self.features.len() * 2, bias.len()).into()))
    }

    fn bwd(
        &self,
        _table: &Tensor,
        bias: &Tensor,
        _sums: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let mut bias_slopes = vec![0.0; bias.elem_count()];
        with_values(gradient, |slopes| {
            sum_columns(slopes, &mut bias_slopes);
            let Some(sink) = &self.sink else { return };
            let mut rows = sink.lock().unwrap_or_else(PoisonError::into_inner);
            for features in self.features.iter() {
                features.own().iter().chain(features.other()).for_each(|&row| rows.touch(row));
            }
            add_to_rows(&self.features, slopes, &mut rows.values);
        })?;
        Ok((None, Some(Tensor::from_vec(bias_slopes, bias.shape(), bias.device())?)))
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sum_rows(features: &[Features], table: &[f32], bias: &[f32], sums: &mut [f32]) {
    let width = bias.len();
    for (features, sums) in features.iter().zip(sums.chunks_exact_mut(2 * width)) {
        let (own, other) = sums.split_at_mut(width);
        for (rows, sum) in [(features.own(), own), (features.other(), other)] {
            sum.copy_from_slice(bias);
            for &row in rows {
                let row = &table[usize::from(row) * width..][..width];
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn add_to_rows(features: &[Features], gradient: &[f32], table: &mut [f32]) {
    let width = gradient.len() / (2 * features.len().max(1));
    for (features, gradient) in features.iter().zip(gradient.chunks_exact(2 * width)) {
        let (own, other) = gradient.split_at(width);
        for (rows, gradient) in [(features.own(), own), (features.other(), other)] {
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
