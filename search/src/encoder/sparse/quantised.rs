//! The quantised sparse encoder for play: 16-bit feature sums, 8-bit hidden weights, and later
//! layers in f32.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use azimuth_chess::placement::Placement;
use azimuth_network::axis::Axis;
use azimuth_network::normalize::SMALLEST_SQUARE;
use azimuth_network::parameters::Parameters;
use azimuth_network::sparse::features::{FeatureBatch, FeatureSet, SlottedFeatures};
use azimuth_network::sparse::{HIDDEN_BLOCK, MAX_PIECES, SparseConfig};
use azimuth_network::{InputKind, Inputs, Perspective};
use cozy_chess::{Board, Color};
use multiversion::multiversion;

use super::accumulator::{Accumulator, by_activity, reorder};
use super::kernels::{ACTIVATION_ONE, Kernels, SUM_ONE, Sums};
use crate::encoder::{Attributes, EncodeError, Encoder, Scores};
use crate::large_memory;

/// A quantised sparse encoder. Copies share the feature table.
#[derive(Clone)]
pub struct QuantisedEncoder {
    kernels: Kernels,
    config: SparseConfig,
    sums: Arc<Sums>,
    heads: Arc<Vec<Head>>,
    /// Buffer for the features of one position.
    features: SlottedFeatures,
    /// The sums of White's and Black's view of the previous position.
    accumulators: [Accumulator; Color::NUM],
    /// Buffer for the activations of both views.
    activations: Vec<u8>,
    /// Buffers for the outputs of two successive hidden layers (N each).
    hidden: [Vec<f32>; 2],
    /// The heads along the axis.
    along: Arc<Vec<HeadAlong>>,
}

impl QuantisedEncoder {
    /// Quantises checked `parameters`: feature rows to 1/255, hidden weights to 8 bits with one
    /// scale per neuron. Cosines are with `axis`. Fails if a size is out of range, if feature sums
    /// may exceed 16 bits, or if [`Kernels::chosen`] fails.
    pub fn new(config: &SparseConfig, parameters: &Parameters, axis: &Axis) -> Result<Self> {
        // The kernels rely on these sizes.
        config.check()?;
        parameters.check_shapes(&config.parameters())?;
        ensure!(axis.dim() == config.embedding_dim, "the axis has the wrong dimension");
        let quantise_sums = |name: &str| -> Result<Vec<i16>> {
            let one = f32::from(SUM_ONE);
            let values = parameters.values(name)?;
            let mut quantised = large_memory::with_capacity(values.len());
            quantised.extend(values.iter().map(|value| (value * one).round() as i16));
            Ok(quantised)
        };
        let mut sums = Sums {
            table: quantise_sums("features.weight")?,
            bias: quantise_sums("features.bias")?,
        };
        let most = largest_sum(config.features, &sums);
        ensure!(
            most <= i32::from(i16::MAX),
            "feature sums may reach {most} of {}: the rows of features.weight are too large for 16 bits",
            i16::MAX
        );
        let kernels = Kernels::chosen()?;
        let order = by_activity(kernels, config.features, &sums);
        reorder(&mut sums.table, &order);
        reorder(&mut sums.bias, &order);
        let mut hidden = parameters.values("hidden.weight")?;
        reorder(&mut hidden, &order);
        let hidden_bias = parameters.values("hidden.bias")?;
        let middle = match config.middle_layers {
            0 => [Vec::new(), Vec::new()],
            _ => [parameters.values("middle.weight")?, parameters.values("middle.bias")?],
        };
        let projection = parameters.values("projection.weight")?;
        let projection_bias = parameters.values("projection.bias")?;
        let part = |all: &'_ [f32], head: usize| -> Vec<f32> {
            let size = all.len() / config.heads;
            all[head * size..(head + 1) * size].to_vec()
        };
        let heads = (0..config.heads).map(|head| {
            Head::new(
                &part(&hidden, head),
                part(&hidden_bias, head),
                middle.each_ref().map(|all| part(all, head)),
                &part(&projection, head),
                part(&projection_bias, head),
            )
        });
        let heads: Vec<Head> = heads.collect();
        let fold =
            |head: &Head| HeadAlong::new(&head.projection, &head.projection_bias, axis.unit());
        Ok(Self {
            kernels,
            config: config.clone(),
            along: Arc::new(heads.iter().map(fold).collect()),
            heads: Arc::new(heads),
            features: SlottedFeatures::NONE,
            accumulators: Color::ALL.map(|_| Accumulator::new(&sums.bias)),
            activations: vec![0; 2 * config.accumulator],
            hidden: [(); 2].map(|()| vec![0.0; config.hidden]),
            sums: Arc::new(sums),
        })
    }

    /// The same encoder with another instruction set, which must be one of [`Kernels::available`].
    pub fn with_kernels(mut self, kernels: Kernels) -> Self {
        assert!(Kernels::available().contains(&kernels), "{kernels:?} needs another processor");
        self.kernels = kernels;
        self
    }

    /// The activations of the feature sums of the position in `features`.
    fn activate(&mut self) {
        let Self { kernels, sums, features, accumulators, activations, .. } = self;
        let us = features.side_to_move;
        let views = [us, !us].into_iter().zip(&features.views);
        for (color, slots) in views {
            accumulators[color as usize].prepare(*kernels, sums, slots, features.rows);
        }
        let halves = activations.chunks_exact_mut(self.config.accumulator);
        for (color, activations) in [us, !us].into_iter().zip(halves) {
            accumulators[color as usize].activate(*kernels, sums, activations);
        }
    }

    /// Writes the output of the last hidden layer for the current activations into the first
    /// buffer, and returns the index of the head for a number of pieces.
    fn run_hidden(&mut self, pieces: usize) -> usize {
        let number = self.config.head(pieces);
        let head = &self.heads[number];
        let [hidden, next] = &mut self.hidden;
        let inputs = self.activations.len();
        let blocks = head.hidden.chunks_exact(inputs * HIDDEN_BLOCK);
        let scales = head.hidden_scale.chunks_exact(HIDDEN_BLOCK);
        let biases = head.hidden_bias.chunks_exact(HIDDEN_BLOCK);
        let outputs = hidden.chunks_exact_mut(HIDDEN_BLOCK);
        for ((weights, outputs), (scales, biases)) in blocks.zip(outputs).zip(scales.zip(biases)) {
            let products = self.kernels.multiply(weights, &self.activations);
            let factors = scales.iter().zip(biases);
            for ((output, product), (scale, bias)) in outputs.iter_mut().zip(products).zip(factors)
            {
                *output = (product as f32 * scale + bias).max(0.0);
            }
        }
        for layer in &head.middle {
            middle_layer(layer, hidden, next);
            std::mem::swap(hidden, next);
        }
        number
    }

    /// The cosine with the axis for the current activations.
    fn cosine_of(&mut self, pieces: usize) -> f32 {
        let head = self.run_hidden(pieces);
        cosine_along(&self.along[head], &self.hidden[0])
    }
}

impl Encoder for QuantisedEncoder {
    fn attributes(&self) -> Attributes {
        Attributes {
            input: InputKind::Features(self.config.features),
            perspective: Perspective::SideToMove,
            embedding_dim: self.config.embedding_dim,
            recommended_batch: 256,
            maximum_batch: 4096,
            fixed_sizes: false,
        }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>, EncodeError> {
        let batch = features(inputs)?;
        let dim = self.config.embedding_dim;
        let mut embeddings = vec![0.0; batch.len() * dim];
        for (position, embedding) in batch.iter().zip(embeddings.chunks_exact_mut(dim)) {
            self.features = SlottedFeatures::from_rows(self.config.features, &position);
            self.activate();
            let head = self.run_hidden(position.pieces);
            let head = &self.heads[head];
            project(&self.hidden[0], &head.projection, &head.projection_bias, embedding);
        }
        Ok(embeddings)
    }

    fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
        let batch = features(inputs)?;
        let cosines = batch.iter().map(|position| {
            self.features = SlottedFeatures::from_rows(self.config.features, &position);
            self.activate();
            self.cosine_of(position.pieces)
        });
        Ok(Scores::Ready(cosines.collect()))
    }

    /// Allocates no memory, because a search calls this at every leaf.
    fn cosine(&mut self, board: &Board) -> Result<f32, EncodeError> {
        self.features.fill(self.config.features, &Placement::of(board));
        self.activate();
        Ok(self.cosine_of(self.features.pieces))
    }

    fn for_caller(&self) -> Option<Box<dyn Encoder>> {
        Some(Box::new(self.clone()))
    }
}

/// The features of a batch that was made for a sparse encoder.
fn features(inputs: &Inputs) -> Result<&FeatureBatch> {
    inputs.features().context("the sparse encoder reads features")
}

/// If all feature rows and biases lie within ± this value, their sums fit into 16 bits in every
/// legal position.
pub const LARGEST_PLAYABLE_VALUE: f32 =
    (i16::MAX as i32 / (1 + MAX_PIECES as i32 + FeatureSet::THREATS_SEEN)) as f32 / SUM_ONE as f32;

/// Upper bound on the feature sums of legal positions: at most 32 pieces on different squares, and
/// the largest threat row [`FeatureSet::THREATS_SEEN`] times.
fn largest_sum(set: FeatureSet, sums: &Sums) -> i32 {
    let width = sums.bias.len();
    let largest = |values: &[i16]| {
        values.iter().map(|&value| i32::from(value.unsigned_abs())).max().unwrap_or(0)
    };
    let mut squares = [0; 64];
    let mut others = 0;
    for (row, values) in sums.table.chunks_exact(width).enumerate() {
        match set.piece_square(row) {
            Some(place) => squares[place % 64] = largest(values).max(squares[place % 64]),
            None => others = largest(values).max(others),
        }
    }
    squares.sort_unstable_by_key(|&largest| -largest);
    let pieces: i32 = squares[..MAX_PIECES].iter().sum();
    largest(&sums.bias) + pieces + FeatureSet::THREATS_SEEN * others
}

/// The layers after the sums, for one range of piece counts. N is the number of neurons of a hidden
/// layer.
#[derive(Clone)]
struct Head {
    /// Blocks of [`HIDDEN_BLOCK`] neurons, each in the kernels' order.
    hidden: Vec<i8>,
    /// Converts the integer product of each hidden neuron back to its value.
    hidden_scale: Vec<f32>,
    hidden_bias: Vec<f32>,
    middle: Vec<MiddleLayer>,
    /// `[N][D]`.
    projection: Vec<f32>,
    projection_bias: Vec<f32>,
}

impl Head {
    /// Quantises the parameters of one head: hidden weights as `[N][2H]`, weights and biases of
    /// each middle layer as `[N][N]` and `[N]`, and the projection as `[D][N]`.
    fn new(
        weights: &[f32],
        hidden_bias: Vec<f32>,
        [middle, middle_bias]: [Vec<f32>; 2],
        by_output: &[f32],
        projection_bias: Vec<f32>,
    ) -> Self {
        let width = hidden_bias.len();
        let inputs = weights.len() / width;
        let mut hidden = vec![0; weights.len()];
        let mut hidden_scale = vec![0.0; width];
        for (neuron, weights) in weights.chunks_exact(inputs).enumerate() {
            let largest = weights.iter().fold(f32::MIN_POSITIVE, |max, w| max.max(w.abs()));
            let step = largest / f32::from(i8::MAX);
            hidden_scale[neuron] = step / ACTIVATION_ONE;
            let (block, neuron) = (neuron / HIDDEN_BLOCK, neuron % HIDDEN_BLOCK);
            let block = &mut hidden[block * HIDDEN_BLOCK * inputs..];
            for (input, weight) in weights.iter().enumerate() {
                let slot = input / 4 * 4 * HIDDEN_BLOCK + neuron * 4 + input % 4;
                block[slot] = (weight / step).round() as i8;
            }
        }
        let middle = middle.chunks_exact(width * width).zip(middle_bias.chunks_exact(width));
        let middle = middle.map(|(by_output, bias)| MiddleLayer {
            weights: in_blocks(by_output, width),
            bias: bias.to_vec(),
        });
        Self {
            hidden,
            hidden_scale,
            hidden_bias,
            middle: middle.collect(),
            projection: by_input(by_output, width),
            projection_bias,
        }
    }
}

/// The last layer, scaled to unit length.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn project(hidden: &[f32], weights: &[f32], bias: &[f32], embedding: &mut [f32]) {
    embedding.copy_from_slice(bias);
    for (&input, weights) in hidden.iter().zip(weights.chunks_exact(bias.len())) {
        if input > 0.0 {
            embedding.iter_mut().zip(weights).for_each(|(out, weight)| *out += input * weight);
        }
    }
    let mut lanes = [0.0; 16];
    for chunk in embedding.chunks(lanes.len()) {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += value * value);
    }
    let scale = 1.0 / (lanes.iter().sum::<f32>() + SMALLEST_SQUARE).sqrt();
    embedding.iter_mut().for_each(|value| *value *= scale);
}

/// One head's last layer along a direction. A search needs only the cosine of an embedding with the
/// axis `u`: of `W h + b`, scaled to unit length, that is `(u·W h + u·b) / |W h + b|`. The length
/// follows from the Gram matrix of the layer: `|W h + b|² = h·(WᵀW h + 2 Wᵀb) + b·b`. So the
/// embedding itself need not be computed.
#[derive(Clone)]
struct HeadAlong {
    /// N values.
    along: Vec<f32>,
    along_bias: f32,
    /// `WᵀW`, in blocks of columns: `[N / HIDDEN_BLOCK][N][HIDDEN_BLOCK]`.
    gram: Vec<f32>,
    /// `2 Wᵀb`, N values.
    cross: Vec<f32>,
    bias_square: f32,
}

impl HeadAlong {
    /// Folds a projection (`[N][D]`), its bias and the unit vector `axis` into one head.
    fn new(projection: &[f32], bias: &[f32], axis: &[f32]) -> Self {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let columns: Vec<&[f32]> = projection.chunks_exact(bias.len()).collect();
        let of_columns = |value: &dyn Fn(&[f32]) -> f32| -> Vec<f32> {
            columns.iter().map(|column| value(column)).collect()
        };
        let gram: Vec<f32> = columns.iter().flat_map(|a| of_columns(&|b| dot(a, b))).collect();
        Self {
            along: of_columns(&|column| dot(column, axis)),
            along_bias: dot(bias, axis),
            gram: in_blocks(&gram, columns.len()),
            cross: of_columns(&|column| 2.0 * dot(column, bias)),
            bias_square: dot(bias, bias),
        }
    }
}

/// Number of values that are summed in parallel.
const LANES: usize = 8;

/// The cosine of the embedding of `hidden` (N) with the direction.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn cosine_along(head: &HeadAlong, hidden: &[f32]) -> f32 {
    let (mut along, mut square) = ([0.0; LANES], [0.0; LANES]);
    let blocks = head.gram.chunks_exact(hidden.len() * HIDDEN_BLOCK);
    let inputs = hidden.as_chunks::<HIDDEN_BLOCK>().0.iter();
    let factors = head.cross.as_chunks::<HIDDEN_BLOCK>().0.iter();
    let factors = factors.zip(head.along.as_chunks::<HIDDEN_BLOCK>().0);
    for ((block, inputs), (cross, factors)) in blocks.zip(inputs).zip(factors) {
        let products = block_products(*cross, block, hidden);
        for (index, input) in inputs.iter().enumerate() {
            along[index % LANES] += input * factors[index];
            square[index % LANES] += input * products[index];
        }
    }
    let square = square.iter().sum::<f32>() + head.bias_square;
    (along.iter().sum::<f32>() + head.along_bias) / (square.max(0.0) + SMALLEST_SQUARE).sqrt()
}

/// A square layer of N neurons, in f32 because it is small.
#[derive(Clone)]
struct MiddleLayer {
    /// Blocks of outputs: `[N / HIDDEN_BLOCK][input][HIDDEN_BLOCK]`.
    weights: Vec<f32>,
    bias: Vec<f32>,
}

/// The output of a layer for `input`, with ReLU.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn middle_layer(layer: &MiddleLayer, input: &[f32], output: &mut [f32]) {
    let blocks = layer.weights.chunks_exact(input.len() * HIDDEN_BLOCK);
    let outputs = output.as_chunks_mut::<HIDDEN_BLOCK>().0.iter_mut();
    let biases = layer.bias.as_chunks::<HIDDEN_BLOCK>().0;
    for ((block, output), bias) in blocks.zip(outputs).zip(biases) {
        *output = block_products(*bias, block, input).map(|value| value.max(0.0));
    }
}

/// `sums` plus the products of the inputs with a block of weights (`[input][HIDDEN_BLOCK]`).
#[inline(always)]
fn block_products(
    mut sums: [f32; HIDDEN_BLOCK],
    block: &[f32],
    input: &[f32],
) -> [f32; HIDDEN_BLOCK] {
    // Zeros are multiplied too: a branch on each would be mispredicted half the time.
    for (input, weights) in input.iter().zip(block.as_chunks::<HIDDEN_BLOCK>().0) {
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += input * weight);
    }
    sums
}

/// Rearranges a square matrix, given as `[output][input]` with `width` inputs, into blocks of
/// outputs: `[width / HIDDEN_BLOCK][input][HIDDEN_BLOCK]`.
fn in_blocks(by_output: &[f32], width: usize) -> Vec<f32> {
    by_output.chunks_exact(width * HIDDEN_BLOCK).flat_map(|block| by_input(block, width)).collect()
}

/// Transposes weights with `width` inputs from output-major to input-major order.
fn by_input(by_output: &[f32], width: usize) -> Vec<f32> {
    let of_input = |input| by_output.chunks_exact(width).map(move |weights: &[f32]| weights[input]);
    (0..width).flat_map(of_input).collect()
}
