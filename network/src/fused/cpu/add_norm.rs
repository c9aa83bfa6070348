//! Layer norm with the residual connection before it.

use candle_core::{Device, Result, Tensor};
use multiversion::multiversion;

use super::super::dropout_mask::DropoutMask;
use super::super::layer_norm::{AddNorm, AddNormBack, LAYER_NORM_EPSILON};
use super::gelu::drop_row;
use crate::tensor_slices::with_values;

pub fn add_norm(
    x: &Tensor,
    branch: &Tensor,
    parameters: &AddNorm,
    mask: DropoutMask,
) -> Result<Tensor> {
    let AddNorm { bias, weight, shift } = parameters;
    let mut out = vec![0.0; x.elem_count()];
    with_values([x, branch, bias, weight, shift], |[x, branch, bias, weight, shift]| {
        norm(x, branch, &Row { bias, weight }, shift, mask, &mut out);
    })?;
    Tensor::from_vec(out, x.shape(), &Device::Cpu)
}

pub fn add_norm_back(
    x: &Tensor,
    branch: &Tensor,
    parameters: &AddNorm,
    mask: DropoutMask,
    gradient: &Tensor,
) -> Result<AddNormBack> {
    let AddNorm { bias, weight, shift } = parameters;
    let width = weight.elem_count();
    let mut slopes = Slopes {
        x: vec![0.0; x.elem_count()],
        branch: vec![0.0; x.elem_count()],
        weight: vec![0.0; width],
        shift: vec![0.0; width],
    };
    with_values([x, branch, bias, weight, gradient], |[x, branch, bias, weight, gradient]| {
        norm_back(x, branch, &Row { bias, weight }, mask, gradient, &mut slopes);
    })?;
    let like =
        |slopes: Vec<f32>, tensor: &Tensor| Tensor::from_vec(slopes, tensor.shape(), &Device::Cpu);
    Ok(AddNormBack {
        x: like(slopes.x, x)?,
        branch: like(slopes.branch, branch)?,
        weight: like(slopes.weight, weight)?,
        shift: like(slopes.shift, shift)?,
    })
}

struct Slopes {
    x: Vec<f32>,
    branch: Vec<f32>,
    weight: Vec<f32>,
    shift: Vec<f32>,
}

/// Parameters of a residual connection, the same for all rows.
struct Row<'a> {
    bias: &'a [f32],
    weight: &'a [f32],
}

impl Row<'_> {
    /// `x + mask(branch + bias)` of row number `row`, and its mean and 1 / standard deviation.
    #[inline(always)]
    fn sum(
        &self,
        row: usize,
        x: &[f32],
        branch: &[f32],
        mask: DropoutMask,
        sum: &mut [f32],
    ) -> (f32, f32) {
        for (sum, (branch, bias)) in sum.iter_mut().zip(branch.iter().zip(self.bias)) {
            *sum = branch + bias;
        }
        drop_row(mask, row, sum);
        sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
        moments(sum)
    }
}

/// Mean and 1 / standard deviation of a row.
#[inline(always)]
fn moments(row: &[f32]) -> (f32, f32) {
    let mut lanes = [0.0; 16];
    for chunk in row.chunks(16) {
        lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane += x);
    }
    let mean = lanes.iter().sum::<f32>() / row.len() as f32;
    lanes.fill(0.0);
    for chunk in row.chunks(16) {
        lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane += (x - mean) * (x - mean));
    }
    let variance = lanes.iter().sum::<f32>() / row.len() as f32;
    (mean, 1.0 / (variance + LAYER_NORM_EPSILON).sqrt())
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn norm(
    x: &[f32],
    branch: &[f32],
    row: &Row<'_>,
    shift: &[f32],
    mask: DropoutMask,
    out: &mut [f32],
) {
    let width = shift.len();
    let rows = x.chunks_exact(width).zip(branch.chunks_exact(width));
    for (index, ((x, branch), out)) in rows.zip(out.chunks_exact_mut(width)).enumerate() {
        let (mean, scale) = row.sum(index, x, branch, mask, out);
        for (out, (weight, shift)) in out.iter_mut().zip(row.weight.iter().zip(shift)) {
            *out = (*out - mean) * scale * weight + shift;
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn norm_back(
    x: &[f32],
    branch: &[f32],
    row: &Row<'_>,
    mask: DropoutMask,
    gradient: &[f32],
    slopes: &mut Slopes,
) {
    let width = row.weight.len();
    let mut normed = vec![0.0; width];
    let inputs = x.chunks_exact(width).zip(branch.chunks_exact(width));
    let outputs = slopes.x.chunks_exact_mut(width).zip(slopes.branch.chunks_exact_mut(width));
    let rows = inputs.zip(gradient.chunks_exact(width)).zip(outputs);
    for (index, (((x, branch), gradient), (dx, db))) in rows.enumerate() {
        let (mean, scale) = row.sum(index, x, branch, mask, &mut normed);
        normed.iter_mut().for_each(|x| *x = (*x - mean) * scale);
        let (mut sum, mut along) = (0.0, 0.0);
        for column in 0..width {
            slopes.weight[column] += gradient[column] * normed[column];
            slopes.shift[column] += gradient[column];
            dx[column] = gradient[column] * row.weight[column];
        }
        for (slope, normed) in dx.iter().zip(&normed) {
            sum += slope;
            along += slope * normed;
        }
        let (sum, along) = (sum / width as f32, along / width as f32);
        for (slope, normed) in dx.iter_mut().zip(&normed) {
            *slope = scale * (*slope - sum - normed * along);
        }
        db.copy_from_slice(dx);
        drop_row(mask, index, db);
    }
}
