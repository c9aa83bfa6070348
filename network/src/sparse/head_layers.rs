//! The layers after the feature sums: hidden layer, ReLU, projection, unit length. Each position
//! passes through the head for its number of pieces.
//!
//! On the CPU they are one operation with its gradient. If composed of candle's operations, as on a
//! device, each head's share of a batch needs a gradient as large as the batch, most of it zeros.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use candle_core::{Context, CpuStorage, CustomOp2, Error, Layout, Module, Result, Shape, Tensor};
use candle_nn::Linear;
use multiversion::multiversion;

use crate::normalize::{SMALLEST_SQUARE, normalize};
use crate::tensor_slices::{values, with_values};

/// Width of the layer between the feature sums and the embedding.
pub const HIDDEN: usize = 32;

/// Number of values that are multiplied in parallel.
const LANES: usize = 32;

/// The layers of all heads; each layer has the neurons of one head after another.
pub struct HeadLayers {
    pub hidden: Linear,
    /// The layers between the hidden layer and the projection, if there are any.
    pub middle: Option<Linear>,
    pub projection: Linear,
    pub heads: usize,
}

impl HeadLayers {
    /// Unit embeddings (n x D) of `activations` (n x 2H) on the CPU; `heads` contains the head of
    /// each position.
    pub fn fused(&self, activations: &Tensor, heads: Vec<usize>) -> Result<Tensor> {
        let per_head = |layer: &Linear| Ok::<_, Error>(layer.weight().dim(0)? / self.heads);
        let sizes = Sizes {
            inputs: activations.dim(1)?,
            middle: self.middle.as_ref().map_or(Ok(0), per_head)? / HIDDEN,
            embedding_dim: per_head(&self.projection)?,
            heads: self.heads,
        };
        let mut flat = Vec::new();
        for layer in
            [Some(&self.hidden), self.middle.as_ref(), Some(&self.projection)].into_iter().flatten()
        {
            flat.push(layer.weight().flatten_all()?);
            flat.push(layer.bias().context("a layer has no bias")?.clone());
        }
        let all = Tensor::cat(&flat, 0)?;
        let operation = FusedLayers { sizes, heads, trace: Mutex::default() };
        activations.contiguous()?.apply_op2(&all, operation)
    }

    /// The same on any device. Every head is computed for every position and all but one are
    /// masked, which is faster on a device than selecting heads.
    pub fn composed(&self, activations: &Tensor, heads: &[usize]) -> Result<Tensor> {
        let mut chosen = vec![0f32; heads.len() * self.heads];
        for (chosen, &head) in chosen.chunks_exact_mut(self.heads).zip(heads) {
            chosen[head] = 1.0;
        }
        let chosen = Tensor::from_vec(chosen, (heads.len(), self.heads, 1), activations.device())?;
        let mut hidden = chosen_outputs(&self.hidden, activations, &chosen)?.relu()?;
        if let Some(middle) = &self.middle {
            for number in 0..middle.weight().dim(0)? / (self.heads * HIDDEN) {
                let layer = self.middle_layer(middle, number)?;
                hidden = chosen_outputs(&layer, &hidden, &chosen)?.relu()?;
            }
        }
        Ok(normalize(&chosen_outputs(&self.projection, &hidden, &chosen)?)?.1)
    }

    /// One of the middle layers, for all heads.
    fn middle_layer(&self, all: &Linear, number: usize) -> Result<Linear> {
        let part = |tensor: &Tensor, width: usize| {
            let count = tensor.dim(0)? / (self.heads * HIDDEN);
            let by_head = tensor.reshape((self.heads, count, HIDDEN * width))?;
            by_head.narrow(1, number, 1)?.reshape((self.heads * HIDDEN, width))
        };
        let bias = all.bias().map(|bias| part(bias, 1)?.flatten_all()).transpose()?;
        Ok(Linear::new(part(all.weight(), HIDDEN)?, bias))
    }
}

/// Selects one head's output for each input, from a layer of all heads: that of the head that is 1
/// in `chosen` (batch x heads x 1).
fn chosen_outputs(layer: &Linear, input: &Tensor, chosen: &Tensor) -> Result<Tensor> {
    let (batch, heads, _) = chosen.dims3()?;
    let all = layer.forward(input)?;
    let outputs = all.dim(1)? / heads;
    all.reshape((batch, heads, outputs))?.broadcast_mul(chosen)?.sum(1)
}

/// Sizes of the layers; the parameters of all heads are concatenated.
#[derive(Clone, Copy)]
struct Sizes {
    inputs: usize,
    embedding_dim: usize,
    heads: usize,
    /// Number of layers between the hidden layer and the projection.
    middle: usize,
}

/// One head's parameters, or their gradients: `[HIDDEN][inputs]`, `[HIDDEN]`; for all middle layers
/// together, `[middle][HIDDEN][HIDDEN]`, `[middle][HIDDEN]`; then `[D][HIDDEN]`, `[D]`.
struct Layers<T> {
    hidden: T,
    hidden_bias: T,
    middle: T,
    middle_bias: T,
    projection: T,
    projection_bias: T,
}

impl Sizes {
    /// Ranges of one head's parameters of each kind.
    fn ranges(self, head: usize) -> [Range<usize>; 6] {
        let Self { inputs, embedding_dim, heads, middle } = self;
        let sizes = [
            HIDDEN * inputs,
            HIDDEN,
            middle * HIDDEN * HIDDEN,
            middle * HIDDEN,
            embedding_dim * HIDDEN,
            embedding_dim,
        ];
        let mut first = 0;
        sizes.map(|size| {
            let begin = first + head * size;
            first += heads * size;
            begin..begin + size
        })
    }

    fn of_head(self, all: &[f32], head: usize) -> Layers<&[f32]> {
        Layers::from(self.ranges(head).map(|range| &all[range]))
    }

    fn of_head_mut(self, all: &mut [f32], head: usize) -> Layers<&mut [f32]> {
        let parts = all.get_disjoint_mut(self.ranges(head));
        Layers::from(parts.expect("the kinds of parameters lie side by side"))
    }
}

impl<T> From<[T; 6]> for Layers<T> {
    fn from(
        [hidden, hidden_bias, middle, middle_bias, projection, projection_bias]: [T; 6],
    ) -> Self {
        Self { hidden, hidden_bias, middle, middle_bias, projection, projection_bias }
    }
}

/// The layers as one operation.
struct FusedLayers {
    sizes: Sizes,
    heads: Vec<usize>,
    /// The state that the backward pass needs from the forward pass.
    trace: Mutex<Trace>,
}

/// For each position, the outputs of the layers of [`HIDDEN`] neurons, first to last, and the
/// length of the embedding before scaling.
#[derive(Default)]
struct Trace {
    hidden: Vec<[f32; HIDDEN]>,
    lengths: Vec<f32>,
}

impl CustomOp2 for FusedLayers {
    fn name(&self) -> &'static str {
        "head-layers"
    }

    fn cpu_fwd(
        &self,
        activations: &CpuStorage,
        activations_layout: &Layout,
        layers: &CpuStorage,
        layers_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let activations = values(activations, activations_layout)?;
        let layers = values(layers, layers_layout)?;
        let dim = self.sizes.embedding_dim;
        let mut embeddings = vec![0.0; self.heads.len() * dim];
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        *trace = embed_all(self, activations, layers, &mut embeddings);
        Ok((CpuStorage::F32(embeddings), (self.heads.len(), dim).into()))
    }

    fn bwd(
        &self,
        activations: &Tensor,
        layers: &Tensor,
        embeddings: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let mut slopes = vec![0.0; activations.elem_count()];
        let mut layer_slopes = vec![0.0; layers.elem_count()];
        with_values([activations, layers, embeddings, gradient], |given| {
            let trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
            differentiate_all(self, &trace, given, &mut slopes, &mut layer_slopes);
        })?;
        let of = |slopes, like: &Tensor| Tensor::from_vec(slopes, like.shape(), like.device());
        Ok((Some(of(slopes, activations)?), Some(of(layer_slopes, layers)?)))
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn embed_all(
    op: &FusedLayers,
    activations: &[f32],
    layers: &[f32],
    embeddings: &mut [f32],
) -> Trace {
    let mut trace = Trace::default();
    let Sizes { inputs, embedding_dim, .. } = op.sizes;
    let rows = activations.chunks_exact(inputs).zip(embeddings.chunks_exact_mut(embedding_dim));
    for (&head, (input, embedding)) in op.heads.iter().zip(rows) {
        let layers = op.sizes.of_head(layers, head);
        let mut hidden = layer(layers.hidden, layers.hidden_bias, input);
        trace.hidden.push(hidden);
        let middle = layers.middle.chunks_exact(HIDDEN * HIDDEN);
        for (weights, bias) in middle.zip(layers.middle_bias.chunks_exact(HIDDEN)) {
            hidden = layer(weights, bias, &hidden);
            trace.hidden.push(hidden);
        }
        let length = project(&layers, &hidden, embedding);
        embedding.iter_mut().for_each(|value| *value /= length);
        trace.lengths.push(length);
    }
    trace
}

/// The output of a layer for `input`, with ReLU.
#[inline(always)]
fn layer(weights: &[f32], bias: &[f32], input: &[f32]) -> [f32; HIDDEN] {
    let mut output = [0.0; HIDDEN];
    let neurons = weights.chunks_exact(input.len()).zip(bias);
    for (value, (weights, bias)) in output.iter_mut().zip(neurons) {
        *value = (dot(weights, input) + bias).max(0.0);
    }
    output
}

/// Writes the embedding before scaling, and returns its length.
#[inline(always)]
fn project(layers: &Layers<&[f32]>, hidden: &[f32; HIDDEN], embedding: &mut [f32]) -> f32 {
    let outputs = layers.projection.chunks_exact(HIDDEN).zip(layers.projection_bias);
    for (value, (weights, bias)) in embedding.iter_mut().zip(outputs) {
        *value = dot(weights, hidden) + bias;
    }
    (dot(embedding, embedding) + SMALLEST_SQUARE).sqrt()
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn differentiate_all(
    op: &FusedLayers,
    trace: &Trace,
    [activations, layers, embeddings, gradient]: [&[f32]; 4],
    slopes: &mut [f32],
    layer_slopes: &mut [f32],
) {
    let Sizes { inputs, embedding_dim: dim, .. } = op.sizes;
    let rows = activations.chunks_exact(inputs).zip(slopes.chunks_exact_mut(inputs));
    let results = embeddings.chunks_exact(dim).zip(gradient.chunks_exact(dim));
    let hidden = trace.hidden.chunks_exact(1 + op.sizes.middle);
    let positions = op.heads.iter().zip(hidden.zip(&trace.lengths));
    for ((&head, (hidden, length)), ((input, slopes), (embedding, gradient))) in
        positions.zip(rows.zip(results))
    {
        let layers = op.sizes.of_head(layers, head);
        let layer_slopes = op.sizes.of_head_mut(layer_slopes, head);
        // The gradient of the scaling to unit length keeps only the component orthogonal to the
        // embedding.
        let along = dot(embedding, gradient);
        let mut hidden_slopes = [0.0; HIDDEN];
        let outputs = layers.projection.chunks_exact(HIDDEN);
        let outputs = outputs.zip(layer_slopes.projection.chunks_exact_mut(HIDDEN));
        let outputs = outputs.zip(layer_slopes.projection_bias).zip(embedding.iter().zip(gradient));
        for (((weights, weight_slopes), bias_slope), (value, slope)) in outputs {
            let slope = (slope - value * along) / length;
            *bias_slope += slope;
            add(weight_slopes, slope, &hidden[op.sizes.middle]);
            add(&mut hidden_slopes, slope, weights);
        }
        let middle = layers.middle.chunks_exact(HIDDEN * HIDDEN);
        let middle = middle.zip(layer_slopes.middle.chunks_exact_mut(HIDDEN * HIDDEN));
        let middle = middle.zip(layer_slopes.middle_bias.chunks_exact_mut(HIDDEN));
        for (((weights, weight_slopes), bias_slopes), around) in middle.zip(hidden.windows(2)).rev()
        {
            let mut input_slopes = [0.0; HIDDEN];
            let given: [&[f32]; 3] = [&around[0], &around[1], &hidden_slopes];
            layer_back(weights, given, weight_slopes, bias_slopes, &mut input_slopes);
            hidden_slopes = input_slopes;
        }
        let given = [input, &hidden[0], &hidden_slopes];
        layer_back(layers.hidden, given, layer_slopes.hidden, layer_slopes.hidden_bias, slopes);
    }
}

/// The gradient of [`layer`], given its input, its output and the gradient of the output.
#[inline(always)]
fn layer_back(
    weights: &[f32],
    [input, output, gradient]: [&[f32]; 3],
    weight_slopes: &mut [f32],
    bias_slopes: &mut [f32],
    input_slopes: &mut [f32],
) {
    let neurons = weights.chunks_exact(input.len());
    let neurons = neurons.zip(weight_slopes.chunks_exact_mut(input.len()));
    let neurons = neurons.zip(bias_slopes).zip(output.iter().zip(gradient));
    for (((weights, weight_slopes), bias_slope), (&value, &slope)) in neurons {
        if value > 0.0 {
            *bias_slope += slope;
            add(weight_slopes, slope, input);
            add(input_slopes, slope, weights);
        }
    }
}

/// Adds `factor` times `values` to `sums`.
#[inline(always)]
fn add(sums: &mut [f32], factor: f32, values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum::<f32>();
    for (a, b) in a.zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use candle_core::backprop::GradStore;
    use candle_core::{Device, Var};

    use super::*;
    use crate::fused::tests::check;

    #[test]
    fn the_fused_layers_are_those_composed_and_so_are_their_gradients() -> Result<()> {
        let (inputs, dim, heads) = (256, 16, 3);
        for middle in [0, 2] {
            let variable = |shape: &[usize]| Var::randn(0f32, 0.3, shape, &Device::Cpu);
            let active = variable(&[7, inputs])?;
            let shapes = [
                [heads * HIDDEN, inputs],
                [heads * dim, HIDDEN],
                [heads * middle * HIDDEN, HIDDEN],
            ];
            let mut variables = Vec::new();
            for shape in shapes {
                variables.extend([variable(&shape)?, variable(&shape[..1])?]);
            }
            let tensor = |index: usize| variables[index].as_tensor().clone();
            let linear = |first: usize| Linear::new(tensor(first), Some(tensor(first + 1)));
            let layers = HeadLayers {
                hidden: linear(0),
                middle: (middle > 0).then(|| linear(4)),
                projection: linear(2),
                heads,
            };
            let chosen = vec![0, 2, 1, 1, 0, 2, 1];
            let composed = layers.composed(&active, &chosen)?;
            let fused = layers.fused(&active, chosen)?;
            check("embeddings", &fused, &composed, 1e-4)?;
            let direction = Tensor::randn(0f32, 1.0, composed.shape(), &Device::Cpu)?;
            let back = |z: &Tensor| (z * &direction)?.sum_all()?.backward();
            let (expected, found) = (back(&composed)?, back(&fused)?);
            let used = if middle > 0 { 6 } else { 4 };
            for variable in variables[..used].iter().chain([&active]) {
                let of = |store: &GradStore| store.get(variable).expect("tracked").clone();
                check("gradient", &of(&found), &of(&expected), 1e-4)?;
            }
        }
        Ok(())
    }
}
