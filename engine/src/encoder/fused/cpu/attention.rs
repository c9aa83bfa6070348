//! Attention, head by head.

use candle_core::{Device, Result, Tensor};
use multiversion::multiversion;

use super::super::Mask;
use super::super::numerics::exp_of_negative;
use crate::encoder::storage::with_values;

pub fn attention(packed: &Tensor, bias: &Tensor, heads: usize, mask: Mask) -> Result<Tensor> {
    let shape = AttentionShape::of(packed, heads)?;
    let mut mixed = vec![0.0; packed.elem_count() / 3];
    with_values([packed, bias], |[packed, bias]| attend(packed, bias, mask, &mut mixed, shape))?;
    let (batch, length, width) = packed.dims3()?;
    Tensor::from_vec(mixed, (batch, length, width / 3), &Device::Cpu)
}

pub fn attention_back(
    packed: &Tensor,
    bias: &Tensor,
    heads: usize,
    mask: Mask,
    gradient: &Tensor,
) -> Result<Tensor> {
    let shape = AttentionShape::of(packed, heads)?;
    let mut slopes = vec![0.0; packed.elem_count()];
    with_values([packed, bias, gradient], |[packed, bias, gradient]| {
        attend_back(packed, bias, mask, gradient, &mut slopes, shape);
    })?;
    Tensor::from_vec(slopes, packed.shape(), &Device::Cpu)
}

#[derive(Clone, Copy)]
struct AttentionShape {
    length: usize,
    heads: usize,
    /// Width of a head.
    head: usize,
}

impl AttentionShape {
    fn of(packed: &Tensor, heads: usize) -> Result<Self> {
        let (_, length, width) = packed.dims3()?;
        Ok(Self { length, heads, head: width / 3 / heads })
    }
}

/// One head's part of the packed projections, rows of `head` values.
struct Head {
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    /// `k` turned over, `[head][length]`.
    k_by_column: Vec<f32>,
    /// One row of attention weights.
    weights: Vec<f32>,
    /// What the row's mask makes of each weight.
    factors: Vec<f32>,
}

impl Head {
    fn new(shape: AttentionShape) -> Self {
        let values = vec![0.0; shape.length * shape.head];
        Self {
            q: values.clone(),
            k: values.clone(),
            v: values.clone(),
            k_by_column: values,
            weights: vec![0.0; shape.length],
            factors: vec![1.0; shape.length],
        }
    }

    #[inline(always)]
    fn load(&mut self, packed: &[f32], bias: &[f32], index: usize, shape: AttentionShape) {
        let AttentionShape { length, heads, head } = shape;
        let width = heads * head;
        for row in 0..length {
            let from = &packed[row * 3 * width..][..3 * width];
            for (part, to) in [&mut self.q, &mut self.k, &mut self.v].into_iter().enumerate() {
                let first = part * width + index * head;
                let from = from[first..][..head].iter().zip(&bias[first..][..head]);
                let to = &mut to[row * head..][..head];
                to.iter_mut().zip(from).for_each(|(to, (x, bias))| *to = x + bias);
            }
        }
        turn_over(&self.k, &mut self.k_by_column, shape);
    }

    /// Leaves softmax(q_row · k / sqrt(head)) in `weights`; `number` counts the rows of all heads.
    #[inline(always)]
    fn weigh(&mut self, row: usize, number: usize, mask: Mask, shape: AttentionShape) {
        let AttentionShape { length, head, .. } = shape;
        let scale = 1.0 / (head as f32).sqrt();
        self.weights.fill(0.0);
        for column in 0..head {
            let q = self.q[row * head + column] * scale;
            let k = &self.k_by_column[column * length..][..length];
            self.weights.iter_mut().zip(k).for_each(|(weight, k)| *weight += q * k);
        }
        let largest = self.weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for weight in &mut self.weights {
            *weight = exp_of_negative(*weight - largest);
        }
        for weight in &self.weights {
            sum += weight;
        }
        let scale = 1.0 / sum;
        self.weights.iter_mut().for_each(|weight| *weight *= scale);
        if !mask.is_none() {
            let first = (number * length) as u32;
            let factors = self.factors.iter_mut().zip(first..);
            factors.for_each(|(factor, place)| *factor = mask.factor(place));
        }
    }
}

#[inline(always)]
fn turn_over(by_row: &[f32], by_column: &mut [f32], shape: AttentionShape) {
    for column in 0..shape.head {
        let to = &mut by_column[column * shape.length..][..shape.length];
        to.iter_mut().enumerate().for_each(|(row, x)| *x = by_row[row * shape.head + column]);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn attend(packed: &[f32], bias: &[f32], mask: Mask, mixed: &mut [f32], shape: AttentionShape) {
    let AttentionShape { length, heads, head } = shape;
    let width = heads * head;
    let mut part = Head::new(shape);
    let samples =
        packed.chunks_exact(length * 3 * width).zip(mixed.chunks_exact_mut(length * width));
    for (sample, (packed, mixed)) in samples.enumerate() {
        for index in 0..heads {
            part.load(packed, bias, index, shape);
            for row in 0..length {
                part.weigh(row, (sample * heads + index) * length + row, mask, shape);
                let out = &mut mixed[row * width + index * head..][..head];
                let weights = part.weights.iter().zip(&part.factors);
                for ((weight, factor), v) in weights.zip(part.v.chunks_exact(head)) {
                    let weight = weight * factor;
                    out.iter_mut().zip(v).for_each(|(out, v)| *out += weight * v);
                }
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn attend_back(
    packed: &[f32],
    bias: &[f32],
    mask: Mask,
    gradient: &[f32],
    slopes: &mut [f32],
    shape: AttentionShape,
) {
    let AttentionShape { length, heads, head } = shape;
    let width = heads * head;
    let scale = 1.0 / (head as f32).sqrt();
    let mut part = Head::new(shape);
    let mut v_by_column = vec![0.0; length * head];
    let mut weight_slopes = vec![0.0; length];
    let [mut dq, mut dk, mut dv] = [(); 3].map(|()| vec![0.0; length * head]);
    let samples = packed
        .chunks_exact(length * 3 * width)
        .zip(gradient.chunks_exact(length * width))
        .zip(slopes.chunks_exact_mut(length * 3 * width));
    for (sample, ((packed, gradient), slopes)) in samples.enumerate() {
        for index in 0..heads {
            part.load(packed, bias, index, shape);
            turn_over(&part.v, &mut v_by_column, shape);
            [&mut dq, &mut dk, &mut dv].into_iter().for_each(|values| values.fill(0.0));
            for row in 0..length {
                part.weigh(row, (sample * heads + index) * length + row, mask, shape);
                let out = &gradient[row * width + index * head..][..head];
                // With M the mask's factors: dP_j = M_j (dO · v_j), then dS_j = P_j (dP_j - Σ P dP).
                weight_slopes.fill(0.0);
                for (column, &out) in out.iter().enumerate() {
                    let v = &v_by_column[column * length..][..length];
                    weight_slopes.iter_mut().zip(v).for_each(|(slope, v)| *slope += out * v);
                }
                let mut mean = 0.0;
                let factors = part.weights.iter().zip(&part.factors);
                for ((weight, factor), slope) in factors.zip(&mut weight_slopes) {
                    *slope *= factor;
                    mean += weight * *slope;
                }
                let dq = &mut dq[row * head..][..head];
                let q = &part.q[row * head..][..head];
                let keys = part.k.chunks_exact(head).zip(dk.chunks_exact_mut(head));
                let values = dv.chunks_exact_mut(head);
                let weights = part.weights.iter().zip(&part.factors).zip(&weight_slopes);
                for (((k, dk), dv), ((weight, factor), slope)) in keys.zip(values).zip(weights) {
                    let slope = weight * (slope - mean) * scale;
                    let weight = weight * factor;
                    for column in 0..head {
                        dq[column] += slope * k[column];
                        dk[column] += slope * q[column];
                        dv[column] += weight * out[column];
                    }
                }
            }
            for row in 0..length {
                let to = &mut slopes[row * 3 * width..][..3 * width];
                for (part, from) in [&dq, &dk, &dv].into_iter().enumerate() {
                    let from = &from[row * head..][..head];
                    to[part * width + index * head..][..head].copy_from_slice(from);
                }
            }
        }
    }
}
