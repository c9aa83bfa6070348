//! Operations of the transformer that candle has no fused kernel with a backward pass for, as single
//! passes on the CPU: attention, layer norm and exact GELU. Each has the composition of candle's own
//! operations beside it (in the network, for other devices) as its reference.

use candle_core::{CpuStorage, CustomOp1, CustomOp3, Device, Layout, Result, Shape, Tensor};
use multiversion::multiversion;

use super::storage::{values, with_values};

/// e^x for x <= 0 with a relative error below 6e-6, in a form that compilers vectorise: the fraction of the
/// power of two by a polynomial, its whole part in the exponent bits. Below -87 it is 0.
#[inline(always)]
pub fn exp_of_negative(x: f32) -> f32 {
    let power = (x * std::f32::consts::LOG2_E).max(-126.0);
    let whole = power.floor();
    let fraction = (power - whole) * std::f32::consts::LN_2;
    let mut sum = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * fraction + coefficient;
    }
    let scale = f32::from_bits(((whole as i32 + 127) << 23) as u32);
    if x < -87.0 { 0.0 } else { sum * scale }
}

/// Softmax attention from packed projections: (batch, length, 3H) of q, k, v to (batch, length, H),
/// with `heads` heads of H / heads each. f32 on the CPU.
pub fn attention(packed: &Tensor, heads: usize) -> Result<Tensor> {
    let (batch, length, width) = packed.dims3()?;
    let shape = AttentionShape { batch, length, heads, head: width / 3 / heads };
    packed.contiguous()?.apply_op1(Attention(shape))
}

/// Layer norm over the last dimension. f32 on the CPU.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f32) -> Result<Tensor> {
    x.contiguous()?.apply_op3(weight, bias, LayerNorm { epsilon })
}

/// `x Φ(x)` with the error function to 1.5e-7 (Abramowitz and Stegun 7.1.26). f32 on the CPU.
pub fn gelu(x: &Tensor) -> Result<Tensor> {
    x.contiguous()?.apply_op1(Gelu)
}

#[derive(Clone, Copy)]
struct AttentionShape {
    batch: usize,
    length: usize,
    heads: usize,
    /// Width of a head.
    head: usize,
}

struct Attention(AttentionShape);

impl CustomOp1 for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(&self, packed: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let AttentionShape { batch, length, heads, head } = self.0;
        let mut mixed = vec![0.0; batch * length * heads * head];
        attend(values(packed, layout)?, &mut mixed, self.0);
        Ok((CpuStorage::F32(mixed), (batch, length, heads * head).into()))
    }

    fn bwd(&self, packed: &Tensor, _mixed: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let mut slopes = vec![0.0; packed.elem_count()];
        with_values(packed, |packed| {
            with_values(gradient, |gradient| attend_back(packed, gradient, &mut slopes, self.0))
        })??;
        Ok(Some(Tensor::from_vec(slopes, packed.shape(), &Device::Cpu)?))
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
        }
    }

    #[inline(always)]
    fn load(&mut self, packed: &[f32], index: usize, shape: AttentionShape) {
        let AttentionShape { length, heads, head, .. } = shape;
        let width = heads * head;
        for row in 0..length {
            let from = &packed[row * 3 * width..][..3 * width];
            for (part, to) in [&mut self.q, &mut self.k, &mut self.v].into_iter().enumerate() {
                let from = &from[part * width + index * head..][..head];
                to[row * head..][..head].copy_from_slice(from);
            }
        }
        for column in 0..head {
            let to = &mut self.k_by_column[column * length..][..length];
            to.iter_mut().enumerate().for_each(|(row, k)| *k = self.k[row * head + column]);
        }
    }

    /// Leaves softmax(q_row · k / sqrt(head)) in `weights`.
    #[inline(always)]
    fn weigh(&mut self, row: usize, shape: AttentionShape) {
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
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn attend(packed: &[f32], mixed: &mut [f32], shape: AttentionShape) {
    let AttentionShape { length, heads, head, .. } = shape;
    let width = heads * head;
    let mut part = Head::new(shape);
    let samples =
        packed.chunks_exact(length * 3 * width).zip(mixed.chunks_exact_mut(length * width));
    for (packed, mixed) in samples {
        for index in 0..heads {
            part.load(packed, index, shape);
            for row in 0..length {
                part.weigh(row, shape);
                let out = &mut mixed[row * width + index * head..][..head];
                for (weight, v) in part.weights.iter().zip(part.v.chunks_exact(head)) {
                    out.iter_mut().zip(v).for_each(|(out, v)| *out += weight * v);
                }
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn attend_back(packed: &[f32], gradient: &[f32], slopes: &mut [f32], shape: AttentionShape) {
    let AttentionShape { length, heads, head, .. } = shape;
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
    for ((packed, gradient), slopes) in samples {
        for index in 0..heads {
            part.load(packed, index, shape);
            for column in 0..head {
                let to = &mut v_by_column[column * length..][..length];
                to.iter_mut().enumerate().for_each(|(row, v)| *v = part.v[row * head + column]);
            }
            [&mut dq, &mut dk, &mut dv].into_iter().for_each(|values| values.fill(0.0));
            for row in 0..length {
                part.weigh(row, shape);
                let out = &gradient[row * width + index * head..][..head];
                // dP_j = dO · v_j, then dS_j = P_j (dP_j - Σ P dP).
                weight_slopes.fill(0.0);
                for (column, &out) in out.iter().enumerate() {
                    let v = &v_by_column[column * length..][..length];
                    weight_slopes.iter_mut().zip(v).for_each(|(slope, v)| *slope += out * v);
                }
                let mut mean = 0.0;
                for (weight, slope) in part.weights.iter().zip(&weight_slopes) {
                    mean += weight * slope;
                }
                let dq = &mut dq[row * head..][..head];
                let q = &part.q[row * head..][..head];
                let keys = part.k.chunks_exact(head).zip(dk.chunks_exact_mut(head));
                let values = dv.chunks_exact_mut(head);
                let weights = part.weights.iter().zip(&weight_slopes);
                for (((k, dk), dv), (weight, slope)) in keys.zip(values).zip(weights) {
                    let slope = weight * (slope - mean) * scale;
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

struct LayerNorm {
    epsilon: f32,
}

impl CustomOp3 for LayerNorm {
    fn name(&self) -> &'static str {
        "layer-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let mut normed = values(x, x_layout)?.to_vec();
        let (weight, bias) = (values(weight, weight_layout)?, values(bias, bias_layout)?);
        norm(&mut normed, weight, bias, self.epsilon);
        Ok((CpuStorage::F32(normed), x_layout.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        _normed: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let width = weight.elem_count();
        let (mut dx, mut dw, mut db) =
            (vec![0.0; x.elem_count()], vec![0.0; width], vec![0.0; width]);
        with_values(x, |x| {
            with_values(weight, |weight| {
                with_values(gradient, |gradient| {
                    norm_back(x, weight, gradient, (&mut dx, &mut dw, &mut db), self.epsilon);
                })
            })
        })???;
        let vector = |values: Vec<f32>| Tensor::from_vec(values, width, &Device::Cpu);
        let dx = Tensor::from_vec(dx, x.shape(), &Device::Cpu)?;
        Ok((Some(dx), Some(vector(dw)?), Some(vector(db)?)))
    }
}

/// Mean and 1 / standard deviation of a row.
#[inline(always)]
fn moments(row: &[f32], epsilon: f32) -> (f32, f32) {
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
    (mean, 1.0 / (variance + epsilon).sqrt())
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn norm(rows: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    for row in rows.chunks_exact_mut(weight.len()) {
        let (mean, scale) = moments(row, epsilon);
        for ((x, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
            *x = (*x - mean) * scale * weight + bias;
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn norm_back(
    x: &[f32],
    weight: &[f32],
    gradient: &[f32],
    (dx, dw, db): (&mut [f32], &mut [f32], &mut [f32]),
    epsilon: f32,
) {
    let width = weight.len();
    let rows = x.chunks_exact(width).zip(gradient.chunks_exact(width));
    for ((x, gradient), dx) in rows.zip(dx.chunks_exact_mut(width)) {
        let (mean, scale) = moments(x, epsilon);
        let (mut sum, mut along) = (0.0, 0.0);
        for column in 0..width {
            let normed = (x[column] - mean) * scale;
            dw[column] += gradient[column] * normed;
            db[column] += gradient[column];
            dx[column] = gradient[column] * weight[column];
        }
        for column in 0..width {
            sum += dx[column];
            along += dx[column] * (x[column] - mean);
        }
        let (sum, along) = (sum / width as f32, along * scale / width as f32);
        for (dx, x) in dx.iter_mut().zip(x) {
            *dx = scale * (*dx - sum - (x - mean) * scale * along);
        }
    }
}

struct Gelu;

impl CustomOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut activated = values(x, layout)?.to_vec();
        gelu_values(&mut activated);
        Ok((CpuStorage::F32(activated), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _y: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let mut slopes = gradient.flatten_all()?.to_vec1::<f32>()?;
        with_values(x, |x| gelu_slopes(x, &mut slopes))?;
        Ok(Some(Tensor::from_vec(slopes, x.shape(), &Device::Cpu)?))
    }
}

/// Φ(x) and φ(x) of the standard normal distribution.
#[inline(always)]
fn normal(x: f32) -> (f32, f32) {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let mut sum = 1.061_405_4;
    for coefficient in [-1.453_152, 1.421_413_8, -0.284_496_74, 0.254_829_6] {
        sum = sum * t + coefficient;
    }
    let bell = exp_of_negative(-z * z);
    let tail = 0.5 * sum * t * bell;
    let below = if x < 0.0 { tail } else { 1.0 - tail };
    (below, bell * 0.398_942_3)
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn gelu_values(values: &mut [f32]) {
    values.iter_mut().for_each(|x| *x *= normal(*x).0);
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn gelu_slopes(x: &[f32], slopes: &mut [f32]) {
    for (slope, &x) in slopes.iter_mut().zip(x) {
        let (below, density) = normal(x);
        *slope *= below + x * density;
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;

    fn wave(shape: &[usize], step: f32) -> Result<Var> {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|i| (i as f32 * step).sin() * 1.5).collect();
        Var::from_vec(values, shape, &Device::Cpu)
    }

    /// The gradient of a weighted sum of `f` against central differences.
    fn check_gradient(x: &Var, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<()> {
        let weights = wave(f(x)?.dims(), 0.77)?;
        let total = |x: &Tensor| (f(x)? * weights.as_tensor())?.sum_all();
        let gradients = total(x)?.backward()?;
        let gradient = gradients.get(x).expect("tracked").flatten_all()?.to_vec1::<f32>()?;
        let values = x.flatten_all()?.to_vec1::<f32>()?;
        for index in (0..values.len()).step_by(5) {
            let moved = |by: f32| -> Result<f32> {
                let mut values = values.clone();
                values[index] += by;
                total(&Tensor::from_vec(values, x.shape(), &Device::Cpu)?)?.to_scalar::<f32>()
            };
            let slope = (moved(1e-2)? - moved(-1e-2)?) / 2e-2;
            let error = (slope - gradient[index]).abs();
            assert!(error < 2e-2 * (1.0 + slope.abs()), "{index}: {slope} {}", gradient[index]);
        }
        Ok(())
    }

    #[test]
    fn attention_has_the_gradient_of_its_values() -> Result<()> {
        check_gradient(&wave(&[2, 7, 24], 0.61)?, |packed| attention(packed, 2))
    }

    #[test]
    fn layer_norm_has_the_gradient_of_its_values() -> Result<()> {
        let (x, weight, bias) = (wave(&[5, 20], 0.37)?, wave(&[20], 0.9)?, wave(&[20], 0.2)?);
        check_gradient(&x, |x| layer_norm(x, &weight, &bias, 1e-5))?;
        check_gradient(&weight, |weight| layer_norm(&x, weight, &bias, 1e-5))?;
        check_gradient(&bias, |bias| layer_norm(&x, &weight, bias, 1e-5))
    }

    #[test]
    fn gelu_equals_candles_and_has_its_gradient() -> Result<()> {
        let x = wave(&[200], 0.113)?;
        let difference = (gelu(&x)? - x.gelu_erf()?)?.abs()?.max_all()?.to_scalar::<f32>()?;
        assert!(difference < 1e-6, "{difference}");
        check_gradient(&x, gelu)
    }

    #[test]
    fn exp_is_exact_to_five_digits() {
        for step in 0..10_000 {
            let x = -87.0 * step as f32 / 10_000.0;
            assert!((exp_of_negative(x) / x.exp() - 1.0).abs() < 6e-6, "{x}");
        }
        assert_eq!(exp_of_negative(f32::NEG_INFINITY), 0.0);
    }
}
