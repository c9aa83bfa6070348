//! GELU with the bias before it.

use candle_core::{Device, Result, Tensor};
use multiversion::multiversion;

use super::super::dropout_mask::DropoutMask;
use super::super::numerics::normal;
use crate::tensor_slices::with_values;

pub fn gelu(x: &Tensor, bias: &Tensor, mask: DropoutMask) -> Result<Tensor> {
    let mut out = vec![0.0; x.elem_count()];
    with_values([x, bias], |[x, bias]| activate(x, bias, mask, &mut out))?;
    Tensor::from_vec(out, x.shape(), &Device::Cpu)
}

pub fn gelu_back(
    x: &Tensor,
    bias: &Tensor,
    mask: DropoutMask,
    gradient: &Tensor,
) -> Result<Tensor> {
    let mut slopes = gradient.flatten_all()?.to_vec1::<f32>()?;
    with_values([x, bias], |[x, bias]| activate_back(x, bias, mask, &mut slopes))?;
    Tensor::from_vec(slopes, x.shape(), &Device::Cpu)
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn activate(x: &[f32], bias: &[f32], mask: DropoutMask, out: &mut [f32]) {
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
fn activate_back(x: &[f32], bias: &[f32], mask: DropoutMask, slopes: &mut [f32]) {
    let rows = x.chunks_exact(bias.len()).zip(slopes.chunks_exact_mut(bias.len()));
    for (row, (x, slopes)) in rows.enumerate() {
        for (slope, (x, bias)) in slopes.iter_mut().zip(x.iter().zip(bias)) {
            let x = x + bias;
            let (below, density) = normal(x);
            *slope *= below + x * density;
        }
        drop_row(mask, row, slopes);
    }
}

/// Drops values of row number `row` of a matrix.
#[inline(always)]
pub(super) fn drop_row(mask: DropoutMask, row: usize, values: &mut [f32]) {
    if !mask.is_none() {
        let first = (row * values.len()) as u32;
        values.iter_mut().zip(first..).for_each(|(value, place)| *value *= mask.factor(place));
    }
}
