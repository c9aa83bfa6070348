//! The quantised sparse encoder for play: 16-bit feature sums, 8-bit hidden weights, and later
//! layers in f32.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use azimuth_chess::placement::Placement;
use azimuth_network::axis::Axis;
use azimuth_network::normalize::SMALLEST_SQUARE;
use azimuth_network::parameters::Parameters;
use azimuth_network::sparse::features::{FeatureBatch, FeatureSet, PieceMap, View};
use azimuth_network::sparse::{HIDDEN, MAX_PIECES, SparseConfig};
use azimuth_network::{InputKind, Inputs};
use cozy_chess::{Board, Color, Square};
use multiversion::multiversion;

use super::accumulator::{Accumulators, SumOfRows, by_activity, reorder};
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
    /// The sums of White's and Black's views, for a set without states.
    accumulators: [Accumulators; Color::NUM],
    /// Buffer for the features of one position, for a set with states.
    features: FeatureBatch,
    sum_of_rows: SumOfRows,
    /// Buffer for the activations of both views, the side to move's first.
    activations: Vec<u8>,
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
        let mut sums = quantised_sums(config, parameters)?;
        let most = largest_sum(config.features, &sums);
        ensure!(
            most <= i32::from(i16::MAX),
            "feature sums may reach {most} of {}: the rows of features.weight are too large for 16 bits",
            i16::MAX
        );
        let kernels = Kernels::chosen()?;
        let order = by_activity(kernels, config.features, &sums);
        reorder(&mut sums.table, &order);
        reorder(&mut sums.attackers, &order);
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
                &part(&hidden_bias, head),
                middle.each_ref().map(|all| part(all, head)),
                &part(&projection, head),
                part(&projection_bias, head),
                axis.unit(),
            )
        });
        Ok(Self {
            kernels,
            config: config.clone(),
            heads: Arc::new(heads.collect()),
            accumulators: Color::ALL.map(|_| Accumulators::new(config.features, &sums.bias)),
            features: FeatureBatch::new(config.features),
            sum_of_rows: SumOfRows::new(&sums.bias),
            activations: vec![0; 2 * config.accumulator],
            sums: Arc::new(sums),
        })
    }

    /// The same encoder with another instruction set, which must be one of [`Kernels::available`].
    pub fn with_kernels(mut self, kernels: Kernels) -> Self {
        assert!(Kernels::available().contains(&kernels), "{kernels:?} needs another processor");
        self.kernels = kernels;
        self
    }

    /// Computes the activations of a position from sums of `ply` and of the ply before.
    fn activate_changes(&mut self, placement: &Placement, ply: usize) {
        let Self { kernels, config, sums, accumulators, activations, .. } = self;
        let us = placement.side_to_move;
        let map = PieceMap::of(config.features, placement);
        for color in Color::ALL {
            let view = View::new(config.features, placement, color);
            accumulators[color as usize].prepare(sums, &map, view, ply);
        }
        let halves = activations.chunks_exact_mut(config.accumulator);
        for (color, activations) in [us, !us].into_iter().zip(halves) {
            accumulators[color as usize].activate(*kernels, sums, activations);
        }
    }

    /// The head for a number of pieces, and the output of its last layer of [`HIDDEN`] neurons for
    /// the current activations.
    fn hidden(&self, pieces: usize) -> (&Head, [f32; HIDDEN]) {
        let head = &self.heads[self.config.head(pieces)];
        let products = self.kernels.multiply(&head.hidden, &self.activations);
        let mut hidden = [0.0; HIDDEN];
        for (neuron, hidden) in hidden.iter_mut().enumerate() {
            let value = products[neuron] as f32 * head.hidden_scale[neuron];
            *hidden = (value + head.hidden_bias[neuron]).max(0.0);
        }
        let hidden = head.middle.iter().fold(hidden, |hidden, MiddleLayer { weights, bias }| {
            middle_layer(weights, bias, &hidden)
        });
        (head, hidden)
    }

    /// The cosine with the axis for the current activations.
    fn cosine_of(&self, pieces: usize) -> f32 {
        let (head, hidden) = self.hidden(pieces);
        cosine_along(&head.along, &hidden)
    }
}

impl Encoder for QuantisedEncoder {
    fn attributes(&self) -> Attributes {
        Attributes {
            input: InputKind::Features(self.config.features),
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
            self.sum_of_rows.activate(self.kernels, &self.sums, &position, &mut self.activations);
            let (head, hidden) = self.hidden(position.pieces);
            project(&hidden, &head.projection, &head.projection_bias, embedding);
        }
        Ok(embeddings)
    }

    fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
        let batch = features(inputs)?;
        let cosines = batch.iter().map(|position| {
            self.sum_of_rows.activate(self.kernels, &self.sums, &position, &mut self.activations);
            self.cosine_of(position.pieces)
        });
        Ok(Scores::Ready(cosines.collect()))
    }

    /// Allocates no memory, because a search calls this at every leaf.
    fn cosine(&mut self, board: &Board) -> Result<f32, EncodeError> {
        let placement = Placement::of(board);
        if self.config.features.has_states() {
            let Self { kernels, sums, features, sum_of_rows, activations, .. } = self;
            features.clear();
            features.push(&placement);
            for features in features.iter() {
                sum_of_rows.activate(*kernels, sums, &features, activations);
            }
        } else {
            let ply = 2 * usize::from(board.fullmove_number()) + board.side_to_move() as usize;
            self.activate_changes(&placement, ply);
        }
        Ok(self.cosine_of(board.occupied().len() as usize))
    }

    fn for_caller(&self) -> Option<Box<dyn Encoder>> {
        Some(Box::new(self.clone()))
    }
}

/// The features of a batch that was made for a sparse encoder.
fn features(inputs: &Inputs) -> Result<&FeatureBatch> {
    inputs.features().context("the sparse encoder reads features")
}

/// The table and the bias in units of 1 / `SUM_ONE`. Rows of attackers beyond 8 bits are refused.
fn quantised_sums(config: &SparseConfig, parameters: &Parameters) -> Result<Sums> {
    let quantise = |values: &[f32], quantised: &mut Vec<i16>| {
        let one = f32::from(SUM_ONE);
        // To the nearest integer, like `round`, which calls a function for each value on older
        // processors. Within a unit in the last place of a tie, the result may differ.
        let nearest = |value: f32| (value + 0.5_f32.copysign(value)) as i16;
        quantised.extend(values.iter().map(|value| nearest(value * one)));
    };
    let pieces = config.features.first_attacker() * config.accumulator;
    let (table, attackers) = parameters.read_values("features.weight", |values| {
        let (values, attackers) = values.split_at(pieces);
        let mut table = large_memory::with_capacity(values.len());
        quantise(values, &mut table);
        let mut wide = Vec::with_capacity(attackers.len());
        quantise(attackers, &mut wide);
        let mut narrow = large_memory::with_capacity(wide.len());
        narrow.extend(wide.into_iter().filter_map(|value| i8::try_from(value).ok()));
        (table, (narrow.len() == attackers.len()).then_some(narrow))
    })?;
    let attackers = attackers.context("a row of attackers is too large for 8 bits")?;
    let mut bias = Vec::new();
    quantise(&parameters.values("features.bias")?, &mut bias);
    Ok(Sums { table, attackers, bias })
}

/// If all values of each feature row lie within ± this value, and the biases within that of a
/// piece's row, feature sums fit into 16 bits in every legal position. Rows of attackers fit into 8
/// bits.
pub fn largest_playable_value(set: FeatureSet, row: usize) -> f32 {
    let attackers = if set.attackers { FeatureSet::MOST_ATTACKERS * LARGEST_ATTACKER } else { 0 };
    let others = 1 + MAX_PIECES as i32 + FeatureSet::THREATS_SEEN;
    let largest = match row < set.first_attacker() {
        true => (i32::from(i16::MAX) - attackers) / others,
        false => LARGEST_ATTACKER,
    };
    largest as f32 / f32::from(SUM_ONE)
}

/// The largest magnitude of a value in a row of attackers, in units of 1 / `SUM_ONE`.
const LARGEST_ATTACKER: i32 = i8::MAX as i32;

/// Upper bound on the feature sums of legal positions: at most 32 pieces on different squares, and
/// the largest rows of threats and attackers as often as they can occur.
fn largest_sum(set: FeatureSet, sums: &Sums) -> i32 {
    let width = sums.bias.len();
    let largest = |values: &[i16]| {
        values.iter().map(|&value| i32::from(value.unsigned_abs())).max().unwrap_or(0)
    };
    let mut squares = [0; Square::NUM];
    let mut threats = 0;
    for (row, values) in sums.table.chunks_exact(width).enumerate() {
        let most = match set.piece_square(row) {
            Some(place) => &mut squares[place % Square::NUM],
            None => &mut threats,
        };
        *most = largest(values).max(*most);
    }
    squares.sort_unstable_by_key(|&largest| -largest);
    let pieces: i32 = squares[..MAX_PIECES].iter().sum();
    let attackers = if set.attackers { FeatureSet::MOST_ATTACKERS * LARGEST_ATTACKER } else { 0 };
    largest(&sums.bias) + pieces + FeatureSet::THREATS_SEEN * threats + attackers
}

/// The layers after the sums, for one range of piece counts.
#[derive(Clone)]
struct Head {
    /// In the kernels' order.
    hidden: Vec<i8>,
    /// Converts a hidden neuron's integer product back to its value.
    hidden_scale: [f32; HIDDEN],
    hidden_bias: [f32; HIDDEN],
    middle: Vec<MiddleLayer>,
    /// `[HIDDEN][D]`.
    projection: Vec<f32>,
    projection_bias: Vec<f32>,
    along: HeadAlong,
}

impl Head {
    /// Quantises the parameters of one head: hidden weights as `[HIDDEN][2H]`, weights and biases
    /// of each middle layer as `[HIDDEN][HIDDEN]` and `[HIDDEN]`, and the projection as
    /// `[D][HIDDEN]`. Cosines are with `axis`.
    fn new(
        weights: &[f32],
        bias: &[f32],
        [middle, middle_bias]: [Vec<f32>; 2],
        by_output: &[f32],
        projection_bias: Vec<f32>,
        axis: &[f32],
    ) -> Self {
        let inputs = weights.len() / HIDDEN;
        let mut hidden = vec![0; weights.len()];
        let mut hidden_scale = [0.0; HIDDEN];
        for (neuron, weights) in weights.chunks_exact(inputs).enumerate() {
            let largest = weights.iter().fold(f32::MIN_POSITIVE, |max, w| max.max(w.abs()));
            let step = largest / f32::from(i8::MAX);
            hidden_scale[neuron] = step / ACTIVATION_ONE;
            for (input, weight) in weights.iter().enumerate() {
                let slot = input / 4 * 4 * HIDDEN + neuron * 4 + input % 4;
                hidden[slot] = (weight / step).round() as i8;
            }
        }
        let mut hidden_bias = [0.0; HIDDEN];
        hidden_bias.copy_from_slice(bias);
        let middle = middle.chunks_exact(HIDDEN * HIDDEN).zip(middle_bias.chunks_exact(HIDDEN));
        let projection = by_input(by_output);
        Self {
            hidden,
            hidden_scale,
            hidden_bias,
            middle: middle.map(|(weights, bias)| MiddleLayer::new(weights, bias)).collect(),
            along: HeadAlong::new(&projection, &projection_bias, axis),
            projection,
            projection_bias,
        }
    }
}

/// The last layer, scaled to unit length.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn project(hidden: &[f32; HIDDEN], weights: &[f32], bias: &[f32], embedding: &mut [f32]) {
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
    along: [f32; HIDDEN],
    along_bias: f32,
    /// `WᵀW`, row by row.
    gram: Vec<f32>,
    /// `2 Wᵀb`.
    cross: [f32; HIDDEN],
    bias_square: f32,
}

impl HeadAlong {
    /// Folds a projection (`[HIDDEN][D]`), its bias and the unit vector `axis` into one head.
    fn new(projection: &[f32], bias: &[f32], axis: &[f32]) -> Self {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let columns: Vec<&[f32]> = projection.chunks_exact(bias.len()).collect();
        let of_column = |value: &dyn Fn(&[f32]) -> f32| -> [f32; HIDDEN] {
            std::array::from_fn(|input| value(columns[input]))
        };
        Self {
            along: of_column(&|column| dot(column, axis)),
            along_bias: dot(bias, axis),
            gram: columns.iter().flat_map(|a| of_column(&|b| dot(a, b))).collect(),
            cross: of_column(&|column| 2.0 * dot(column, bias)),
            bias_square: dot(bias, bias),
        }
    }
}

/// Number of values that are summed in parallel.
const LANES: usize = 8;

/// The cosine of the embedding of `hidden` with the direction.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn cosine_along(head: &HeadAlong, hidden: &[f32; HIDDEN]) -> f32 {
    let mut products = head.cross;
    // Zeros are multiplied too: a branch on each would be mispredicted half the time.
    for (&input, row) in hidden.iter().zip(head.gram.as_chunks::<HIDDEN>().0) {
        products.iter_mut().zip(row).for_each(|(product, value)| *product += input * value);
    }
    let (mut along, mut square) = ([0.0; LANES], [0.0; LANES]);
    for start in (0..HIDDEN).step_by(LANES) {
        for lane in 0..LANES {
            let (index, input) = (start + lane, hidden[start + lane]);
            along[lane] += input * head.along[index];
            square[lane] += input * products[index];
        }
    }
    let square = square.iter().sum::<f32>() + head.bias_square;
    (along.iter().sum::<f32>() + head.along_bias) / (square.max(0.0) + SMALLEST_SQUARE).sqrt()
}

/// A square layer of [`HIDDEN`] neurons, in f32 because it is small.
#[derive(Clone)]
struct MiddleLayer {
    /// `[input][output]`.
    weights: Vec<f32>,
    bias: [f32; HIDDEN],
}

impl MiddleLayer {
    /// From weights given as `[output][input]`.
    fn new(by_output: &[f32], biases: &[f32]) -> Self {
        let mut bias = [0.0; HIDDEN];
        bias.copy_from_slice(biases);
        Self { weights: by_input(by_output), bias }
    }
}

/// The output of a middle layer for `input`, with ReLU.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn middle_layer(weights: &[f32], bias: &[f32; HIDDEN], input: &[f32; HIDDEN]) -> [f32; HIDDEN] {
    let mut output = *bias;
    // Zeros are multiplied too: a branch on each would be mispredicted half the time.
    for (&input, weights) in input.iter().zip(weights.as_chunks::<HIDDEN>().0) {
        output.iter_mut().zip(weights).for_each(|(out, weight)| *out += input * weight);
    }
    // `map` would call a function for each value.
    for value in &mut output {
        *value = value.max(0.0);
    }
    output
}

/// Transposes weights with [`HIDDEN`] inputs from output-major to input-major order.
fn by_input(by_output: &[f32]) -> Vec<f32> {
    let inputs = 0..HIDDEN;
    inputs
        .flat_map(|input| by_output.chunks_exact(HIDDEN).map(move |weights| weights[input]))
        .collect()
}
