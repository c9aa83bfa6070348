//! Attention, head by head.

use candle_core::{Device, Result, Tensor};
use multiversion::multiversion;

use super::product::{BLOCK, Matrix, Size, Sums, add_product};
use crate::fused::numerics::exp_of_negative;
use crate::fused::operations::{Attention, DropoutMask};
use crate::tensor_slices::with_values;

pub fn attention(Attention { packed, bias, heads, mask }: Attention<'_>) -> Result<Tensor> {
    let shape = AttentionShape::of(packed, heads)?;
    let mut mixed = vec![0.0; packed.elem_count() / 3];
    with_values([packed, bias], |[packed, bias]| attend(packed, bias, mask, &mut mixed, shape))?;
    let (batch, length, width) = packed.dims3()?;
    Tensor::from_vec(mixed, (batch, length, width / 3), &Device::Cpu)
}

pub fn attention_back(input: Attention<'_>, gradient: &Tensor) -> Result<Tensor> {
    let Attention { packed, bias, heads, mask } = input;
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

    /// The size of a product that has a value for each pair of tokens.
    fn between_tokens(self) -> Size {
        Size { rows: self.length, inner: self.head, columns: self.padded() }
    }

    /// The size of a product that has a row for each token.
    fn of_tokens(self) -> Size {
        Size { rows: self.length, inner: self.length, columns: self.head }
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
    /// Attention weights, in rows of the padded length; the padding is 0.
    weights: Vec<f32>,
    /// Dropout factors of the weights.
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
            weights: vec![0.0; shape.length * shape.padded()],
            factors: vec![1.0; shape.length * shape.padded()],
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

    /// Writes softmax(q · k / sqrt(head)) to `weights`; `number` is the index of the head among
    /// those of all samples.
    #[inline(always)]
    fn weigh(&mut self, number: usize, mask: DropoutMask, shape: AttentionShape) {
        let (q, k) =
            (Matrix::new(&self.q, shape.head), Matrix::new(&self.k_by_column, shape.padded()));
        self.weights.fill(0.0);
        let sums = Sums { values: &mut self.weights, row: shape.padded() };
        add_product(q, k, sums, shape.between_tokens());
        let rows = self.weights.chunks_exact_mut(shape.padded());
        rows.for_each(|row| softmax(row, shape));
        if !mask.is_none() {
            let rows = self.factors.chunks_exact_mut(shape.padded()).enumerate();
            for (row, factors) in rows {
                let first = ((number * shape.length + row) * shape.length) as u32;
                let factors = factors.iter_mut().zip(first..);
                factors.for_each(|(factor, place)| *factor = mask.factor(place));
            }
        }
    }

    /// Applies the mask to the weights.
    #[inline(always)]
    fn mask_weights(&mut self) {
        self.weights.iter_mut().zip(&self.factors).for_each(|(weight, factor)| *weight *= factor);
    }
}

/// Replaces a row of products by its attention weights.
#[inline(always)]
fn softmax(row: &mut [f32], shape: AttentionShape) {
    let scale = 1.0 / (shape.head as f32).sqrt();
    row[shape.length..].fill(f32::NEG_INFINITY);
    let mut lanes = [f32::NEG_INFINITY; BLOCK];
    for block in row.as_chunks::<BLOCK>().0 {
        for (lane, score) in lanes.iter_mut().zip(block) {
            *lane = lane.max(*score);
        }
    }
    let largest = lanes.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let mut lanes = [0.0; BLOCK];
    for block in row.as_chunks_mut::<BLOCK>().0 {
        for lane in 0..BLOCK {
            block[lane] = exp_of_negative((block[lane] - largest) * scale);
            lanes[lane] += block[lane];
        }
    }
    let scale = 1.0 / lanes.iter().sum::<f32>();
    row.iter_mut().for_each(|weight| *weight *= scale);
}

/// Replaces the gradients of the masked weights, row by row, by the gradients of the products. With
/// the weights P and the mask's factors M: dP_j = M_j (dO · v_j), dS_j = P_j (dP_j - Σ P dP).
#[inline(always)]
fn softmax_back(slopes: &mut [f32], part: &Head, shape: AttentionShape) {
    let scale = 1.0 / (shape.head as f32).sqrt();
    let padded = shape.padded();
    let rows = part.weights.chunks_exact(padded).zip(part.factors.chunks_exact(padded));
    for (slopes, (weights, factors)) in slopes.chunks_exact_mut(padded).zip(rows) {
        let mut lanes = [0.0; BLOCK];
        let (weight_blocks, _) = weights.as_chunks::<BLOCK>();
        let (factors, _) = factors.as_chunks::<BLOCK>();
        let (blocks, _) = slopes.as_chunks_mut::<BLOCK>();
        for ((weights, factors), slopes) in weight_blocks.iter().zip(factors).zip(blocks) {
            for lane in 0..BLOCK {
                slopes[lane] *= factors[lane];
                lanes[lane] += weights[lane] * slopes[lane];
            }
        }
        let mean = lanes.iter().sum::<f32>();
        for (weight, slope) in weights.iter().zip(slopes) {
            *slope = weight * (*slope - mean) * scale;
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
            part.weigh(sample * heads + index, mask, shape);
            part.mask_weights();
            let (weights, v) =
                (Matrix::new(&part.weights, shape.padded()), Matrix::new(&part.v, head));
            let out = Sums { values: &mut mixed[index * head..], row: width };
            add_product(weights, v, out, shape.of_tokens());
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
    let (width, padded) = (heads * head, shape.padded());
    let mut part = Head::new(shape);
    let mut v_by_column = vec![0.0; padded * head];
    let mut weight_slopes = vec![0.0; length * padded];
    let samples = packed
        .chunks_exact(length * 3 * width)
        .zip(gradient.chunks_exact(length * width))
        .zip(slopes.chunks_exact_mut(length * 3 * width));
    for (sample, ((packed, gradient), slopes)) in samples.enumerate() {
        for index in 0..heads {
            part.load(packed, bias, index, shape);
            part.weigh(sample * heads + index, mask, shape);
            turn_over(&part.v, &mut v_by_column, shape);
            let out_slopes = Matrix::new(&gradient[index * head..], width);
            weight_slopes.fill(0.0);
            let sums = Sums { values: &mut weight_slopes, row: padded };
            let by_column = Matrix::new(&v_by_column, padded);
            add_product(out_slopes, by_column, sums, shape.between_tokens());
            softmax_back(&mut weight_slopes, &part, shape);
            part.mask_weights();
            let [q, k] = [&part.q, &part.k].map(|values| Matrix::new(values, head));
            let [of_products, weights] =
                [&weight_slopes, &part.weights].map(|values| Matrix::new(values, padded));
            let mut add = |place: usize, a, b| {
                let to = &mut slopes[place * width + index * head..];
                add_product(a, b, Sums { values: to, row: 3 * width }, shape.of_tokens());
            };
            add(0, of_products, k);
            add(1, of_products.transposed(), q);
            add(2, weights.transposed(), out_slopes);
        }
    }
}
