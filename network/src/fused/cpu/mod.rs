//! The operations in f32 on the CPU, vectorised by the compiler for each instruction set: attention,
//! and, row by row, layer norm with the residual connection before it, token embedding with
//! positional embedding, and GELU with the bias before it.

mod attention;
mod product;

use candle_core::{Device, Result, Tensor};
use multiversion::multiversion;

use super::numerics::normal;
use super::operations::{AddNorm, AddNormBack, DropoutMask, Gelu, LAYER_NORM_EPSILON, Residual};
use crate::tensor_slices::with_values;
pub use attention::{attention, attention_back};

pub fn add_norm(Residual { x, branch, norm, mask }: Residual<'_>) -> Result<Tensor> {
    let AddNorm { bias, weight, shift } = norm;
    let mut out = vec![0.0; x.elem_count()];
    with_values([x, branch, bias, weight, shift], |[x, branch, bias, weight, shift]| {
        norm_rows(x, branch, [bias, weight, shift], mask, &mut out);
    })?;
    Tensor::from_vec(out, x.shape(), &Device::Cpu)
}

pub fn add_norm_back(input: Residual<'_>, gradient: &Tensor) -> Result<AddNormBack> {
    let Residual { x, branch, norm: AddNorm { bias, weight, shift }, mask } = input;
    let mut gradients = [x, branch, weight, shift].map(|tensor| vec![0.0; tensor.elem_count()]);
    with_values([x, branch, bias, weight, gradient], |[x, branch, bias, weight, gradient]| {
        let gradients = gradients.each_mut().map(Vec::as_mut_slice);
        norm_rows_back(x, branch, [bias, weight], mask, gradient, gradients);
    })?;
    let like = |gradients: Vec<f32>, tensor: &Tensor| {
        Tensor::from_vec(gradients, tensor.shape(), &Device::Cpu)
    };
    let [of_x, of_branch, of_weight, of_shift] = gradients;
    Ok(AddNormBack {
        x: like(of_x, x)?,
        branch: like(of_branch, branch)?,
        weight: like(of_weight, weight)?,
        shift: like(of_shift, shift)?,
    })
}

/// `x + mask(branch + bias)` of row number `row`, and its mean and 1 / standard deviation.
#[inline(always)]
fn sum_row(
    row: usize,
    [x, branch, bias]: [&[f32]; 3],
    mask: DropoutMask,
    sum: &mut [f32],
) -> (f32, f32) {
    for (sum, (branch, bias)) in sum.iter_mut().zip(branch.iter().zip(bias)) {
        *sum = branch + bias;
    }
    drop_row(mask, row, sum);
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
    moments(sum)
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
fn norm_rows(
    x: &[f32],
    branch: &[f32],
    [bias, weight, shift]: [&[f32]; 3],
    mask: DropoutMask,
    out: &mut [f32],
) {
    let width = shift.len();
    let rows = x.chunks_exact(width).zip(branch.chunks_exact(width));
    for (index, ((x, branch), out)) in rows.zip(out.chunks_exact_mut(width)).enumerate() {
        let (mean, scale) = sum_row(index, [x, branch, bias], mask, out);
        for (out, (weight, shift)) in out.iter_mut().zip(weight.iter().zip(shift)) {
            *out = (*out - mean) * scale * weight + shift;
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn norm_rows_back(
    x: &[f32],
    branch: &[f32],
    [bias, weight]: [&[f32]; 2],
    mask: DropoutMask,
    gradient: &[f32],
    [all_dx, all_db, weight_slopes, shift_slopes]: [&mut [f32]; 4],
) {
    let width = weight.len();
    let mut normed = vec![0.0; width];
    let inputs = x.chunks_exact(width).zip(branch.chunks_exact(width));
    let outputs = all_dx.chunks_exact_mut(width).zip(all_db.chunks_exact_mut(width));
    let rows = inputs.zip(gradient.chunks_exact(width)).zip(outputs);
    for (index, (((x, branch), gradient), (dx, db))) in rows.enumerate() {
        let (mean, scale) = sum_row(index, [x, branch, bias], mask, &mut normed);
        normed.iter_mut().for_each(|x| *x = (*x - mean) * scale);
        let (mut sum, mut along) = (0.0, 0.0);
        for column in 0..width {
            weight_slopes[column] += gradient[column] * normed[column];
            shift_slopes[column] += gradient[column];
            dx[column] = gradient[column] * weight[column];
        }
        for (derivative, normed) in dx.iter().zip(&normed) {
            sum += derivative;
            along += derivative * normed;
        }
        let (sum, along) = (sum / width as f32, along / width as f32);
        for (derivative, normed) in dx.iter_mut().zip(&normed) {
            *derivative = scale * (*derivative - sum - normed * along);
        }
        db.copy_from_slice(dx);
        drop_row(mask, index, db);
    }
}

pub fn embed(ids: &Tensor, table: &Tensor, positional: &Tensor) -> Result<Tensor> {
    let (count, width) = (ids.elem_count(), table.dim(1)?);
    let ids = ids.to_vec2::<u8>()?;
    let mut rows = Vec::with_capacity(count * width);
    with_values([table, positional], |[table, positional]| {
        for ids in &ids {
            for (&id, position) in ids.iter().zip(positional.chunks_exact(width)) {
                let row = &table[usize::from(id) * width..][..width];
                rows.extend(row.iter().zip(position).map(|(token, position)| token + position));
            }
        }
    })?;
    Tensor::from_vec(rows, (count, width), &Device::Cpu)
}

pub fn gelu(Gelu { x, bias, mask }: Gelu<'_>) -> Result<Tensor> {
    let mut out = vec![0.0; x.elem_count()];
    with_values([x, bias], |[x, bias]| gelu_rows(x, bias, mask, &mut out))?;
    Tensor::from_vec(out, x.shape(), &Device::Cpu)
}

pub fn gelu_back(Gelu { x, bias, mask }: Gelu<'_>, gradient: &Tensor) -> Result<Tensor> {
    let mut gradients = gradient.flatten_all()?.to_vec1::<f32>()?;
    with_values([x, bias], |[x, bias]| gelu_rows_back(x, bias, mask, &mut gradients))?;
    Tensor::from_vec(gradients, x.shape(), &Device::Cpu)
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn gelu_rows(x: &[f32], bias: &[f32], mask: DropoutMask, out: &mut [f32]) {
    let rows = x.chunks_exact(bias.len()).zip(out.chunks_exact_mut(bias.len()));
    for (row, (x, out)) in rows.enumerate() {
        for (out, (x, bias)) in out.iter_mut().zip(x.iter().zip(bias)) {
            let x = x + bias;
            *out = x * normal(x).0;
        }
        drop_row(mask, row, out);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn gelu_rows_back(x: &[f32], bias: &[f32], mask: DropoutMask, gradients: &mut [f32]) {
    let rows = x.chunks_exact(bias.len()).zip(gradients.chunks_exact_mut(bias.len()));
    for (row, (x, gradients)) in rows.enumerate() {
        for (derivative, (x, bias)) in gradients.iter_mut().zip(x.iter().zip(bias)) {
            let x = x + bias;
            let (below, density) = normal(x);
            *derivative *= below + x * density;
        }
        drop_row(mask, row, gradients);
    }
}

/// Drops values of row number `row` of a matrix.
#[inline(always)]
fn drop_row(mask: DropoutMask, row: usize, values: &mut [f32]) {
    if !mask.is_none() {
        let first = (row * values.len()) as u32;
        values.iter_mut().zip(first..).for_each(|(value, place)| *value *= mask.factor(place));
    }
}
