//! The layers after the feature sums as one operation with its gradient: hidden layer, ReLU,
//! projection, unit length. Each position passes through the head for its number of pieces. If
//! composed of candle's operations, each head's share of a batch would need a gradient as large as
//! the batch, most of it zeros.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use candle_core::{Context, CpuStorage, CustomOp2, Error, Layout, Result, Shape, Tensor};
use candle_nn::Linear;
use multiversion::multiversion;

use super::network::HIDDEN;
use crate::normalize::SMALLEST_SQUARE;
use crate::tensor_slices::{values, with_values};

/// Number of values that are multiplied in parallel.
const LANES: usize = 32;

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

/// The layers of all heads: the hidden layer, the middle layers if any, and the projection.
pub(super) struct AllLayers<'a> {
    pub hidden: &'a Linear,
    pub middle: Option<&'a Linear>,
    pub projection: &'a Linear,
    pub heads: usize,
}

/// Unit embeddings (n x D) of `activations` (n x 2H) on the CPU; `heads` contains the head of each
/// position.
pub(super) fn unit_embeddings(
    activations: &Tensor,
    layers: &AllLayers<'_>,
    heads: Vec<usize>,
) -> Result<Tensor> {
    let per_head = |layer: &Linear| Ok::<_, Error>(layer.weight().dim(0)? / layers.heads);
    let sizes = Sizes {
        inputs: activations.dim(1)?,
        middle: layers.middle.map_or(Ok(0), per_head)? / HIDDEN,
        embedding_dim: per_head(layers.projection)?,
        heads: layers.heads,
    };
    let mut flat = Vec::new();
    for layer in [Some(layers.hidden), layers.middle, Some(layers.projection)].into_iter().flatten()
    {
        flat.push(layer.weight().flatten_all()?);
        flat.push(layer.bias().context("a layer has no bias")?.clone());
    }
    let all = Tensor::cat(&flat, 0)?;
    activations.contiguous()?.apply_op2(&all, HeadLayers { sizes, heads, trace: Mutex::default() })
}

struct HeadLayers {
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

impl CustomOp2 for HeadLayers {
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
    op: &HeadLayers,
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
    op: &HeadLayers,
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
