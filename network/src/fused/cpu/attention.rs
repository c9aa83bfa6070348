//! Attention, head by head.

use candle_core::{Device, Result, Tensor};
use multiversion::multiversion;

use super::super::dropout_mask::DropoutMask;
use super::super::numerics::exp_of_negative;
use crate::tensor_slices::with_values;

pub fn attention(
    packed: &Tensor,
    bias: &Tensor,
    heads: usize,
    mask: DropoutMask,
) -> Result<Tensor> {
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
    mask: DropoutMask,
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
    /// The length of a row of weights, rounded up to a multiple of [`BLOCK`].
    fn padded(self) -> usize {
        self.length.next_multiple_of(BLOCK)
    }

    fn of(packed: &Tensor, heads: usize) -> Result<Self> {
        let (_, length, width) = packed.dims3()?;
        Ok(Self { length, heads, head: width / 3 / heads })
    }
}

/// One head's part of the packed projections, in rows of `head` values.
struct Head {
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    /// `k` transposed, in rows of the padded length.
    k_by_column: Vec<f32>,
    /// One row of attention weights, padded with zeros.
    weights: Vec<f32>,
    /// Dropout factor of each weight of the row.
    factors: Vec<f32>,
}

impl Head {
    fn new(shape: AttentionShape) -> Self {
        let values = vec![0.0; shape.length * shape.head];
        Self {
            q: values.clone(),
            k: values.clone(),
            v: values,
            k_by_column: vec![0.0; shape.padded() * shape.head],
            weights: vec![0.0; shape.padded()],
            factors: vec![1.0; shape.padded()],
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

    /// Writes softmax(q_row · k / sqrt(head)) to `weights`; `number` is the index of the row among
    /// those of all heads.
    #[inline(always)]
    fn weigh(&mut self, row: usize, number: usize, mask: DropoutMask, shape: AttentionShape) {
        let AttentionShape { length, head, .. } = shape;
        let scale = 1.0 / (head as f32).sqrt();
        self.weights.fill(0.0);
        add_up(&self.q[row * head..][..head], &self.k_by_column, &mut self.weights);
        self.weights[length..].fill(f32::NEG_INFINITY);
        let mut lanes = [f32::NEG_INFINITY; BLOCK];
        for block in self.weights.as_chunks::<BLOCK>().0 {
            for (lane, score) in lanes.iter_mut().zip(block) {
                *lane = lane.max(*score);
            }
        }
        let largest = lanes.into_iter().fold(f32::NEG_INFINITY, f32::max);
        let mut lanes = [0.0; BLOCK];
        for block in self.weights.as_chunks_mut::<BLOCK>().0 {
            for lane in 0..BLOCK {
                block[lane] = exp_of_negative((block[lane] - largest) * scale);
                lanes[lane] += block[lane];
            }
        }
        let scale = 1.0 / lanes.iter().sum::<f32>();
        self.weights.iter_mut().for_each(|weight| *weight *= scale);
        if !mask.is_none() {
            let first = (number * length) as u32;
            let factors = self.factors.iter_mut().zip(first..);
            factors.for_each(|(factor, place)| *factor = mask.factor(place));
        }
    }

    /// Applies the mask to the weights.
    #[inline(always)]
    fn mask_weights(&mut self) {
        self.weights.iter_mut().zip(&self.factors).for_each(|(weight, factor)| *weight *= factor);
    }
}

/// Number of columns that are summed in registers.
const BLOCK: usize = 16;

/// Adds the weighted sum of `rows` to `sum`.
#[inline(always)]
fn add_up(weights: &[f32], rows: &[f32], sum: &mut [f32]) {
    let width = sum.len();
    let (blocks, rest) = sum.as_chunks_mut::<BLOCK>();
    for (index, block) in blocks.iter_mut().enumerate() {
        let mut registers = *block;
        for (weight, row) in weights.iter().zip(rows.chunks_exact(width)) {
            let (row, _) = row.as_chunks::<BLOCK>();
            for (sum, x) in registers.iter_mut().zip(&row[index]) {
                *sum += weight * x;
            }
        }
        *block = registers;
    }
    if rest.is_empty() {
        return;
    }
    let first = width - rest.len();
    for (weight, row) in weights.iter().zip(rows.chunks_exact(width)) {
        for (sum, x) in rest.iter_mut().zip(&row[first..]) {
            *sum += weight * x;
        }
    }
}

/// Adds `row`, scaled by each weight, to the corresponding row of `rows`.
#[inline(always)]
fn spread(weights: &[f32], row: &[f32], rows: &mut [f32]) {
    let (blocks, rest) = row.as_chunks::<BLOCK>();
    for (weight, to) in weights.iter().zip(rows.chunks_exact_mut(row.len())) {
        let (to_blocks, to_rest) = to.as_chunks_mut::<BLOCK>();
        for (block, to) in blocks.iter().zip(to_blocks) {
            for (to, x) in to.iter_mut().zip(block) {
                *to += weight * x;
            }
        }
        for (to, x) in to_rest.iter_mut().zip(rest) {
            *to += weight * x;
        }
    }
}

#[inline(always)]
fn turn_over(by_row: &[f32], by_column: &mut [f32], shape: AttentionShape) {
    for column in 0..shape.head {
        let to = &mut by_column[column * shape.padded()..][..shape.length];
        to.iter_mut().enumerate().for_each(|(row, x)| *x = by_row[row * shape.head + column]);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn attend(
    packed: &[f32],
    bias: &[f32],
    mask: DropoutMask,
    mixed: &mut [f32],
    shape: AttentionShape,
) {
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
                part.mask_weights();
                add_up(&part.weights, &part.v, out);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn attend_back(
    packed: &[f32],
    bias: &[f32],
    mask: DropoutMask,
    gradient: &[f32],
    slopes: &mut [f32],
    shape: AttentionShape,
) {
    let AttentionShape { length, heads, head } = shape;
    let width = heads * head;
    let scale = 1.0 / (head as f32).sqrt();
    let mut part = Head::new(shape);
    let mut v_by_column = vec![0.0; shape.padded() * head];
    let mut weight_slopes = vec![0.0; shape.padded()];
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
                // With the mask's factors M: dP_j = M_j (dO · v_j); dS_j = P_j (dP_j - Σ P dP).
                weight_slopes.fill(0.0);
                add_up(out, &v_by_column, &mut weight_slopes);
                let mut lanes = [0.0; BLOCK];
                let (weights, _) = part.weights.as_chunks::<BLOCK>();
                let (factors, _) = part.factors.as_chunks::<BLOCK>();
                let (slopes, _) = weight_slopes.as_chunks_mut::<BLOCK>();
                for ((weights, factors), slopes) in weights.iter().zip(factors).zip(slopes) {
                    for lane in 0..BLOCK {
                        slopes[lane] *= factors[lane];
                        lanes[lane] += weights[lane] * slopes[lane];
                    }
                }
                let mean = lanes.iter().sum::<f32>();
                for (weight, slope) in part.weights.iter().zip(&mut weight_slopes) {
                    *slope = weight * (*slope - mean) * scale;
                }
                part.mask_weights();
                add_up(&weight_slopes, &part.k, &mut dq[row * head..][..head]);
                spread(&weight_slopes, &part.q[row * head..][..head], &mut dk);
                spread(&part.weights, out, &mut dv);
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
