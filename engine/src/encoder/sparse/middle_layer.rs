//! The layers between the hidden one and the embedding, as they play: in f32, for they are small.

use multiversion::multiversion;

use azimuth_network::sparse::HIDDEN;

/// A layer of as many inputs as outputs, in f32.
#[derive(Clone)]
pub(super) struct MiddleLayer {
    /// `[input][output]`.
    weights: Vec<f32>,
    bias: [f32; HIDDEN],
}

impl MiddleLayer {
    /// From weights given as `[output][input]`.
    pub(super) fn new(by_output: &[f32], biases: &[f32]) -> Self {
        let mut bias = [0.0; HIDDEN];
        bias.copy_from_slice(biases);
        Self { weights: by_input(by_output), bias }
    }

    /// What the layer makes of its `input`, ReLU included.
    pub(super) fn after(&self, input: &[f32; HIDDEN]) -> [f32; HIDDEN] {
        middle(&self.weights, &self.bias, input)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn middle(weights: &[f32], bias: &[f32; HIDDEN], input: &[f32; HIDDEN]) -> [f32; HIDDEN] {
    let mut output = *bias;
    // Zeros are multiplied too: a branch on each would be mispredicted half the time.
    for (&input, weights) in input.iter().zip(weights.chunks_exact(HIDDEN)) {
        output.iter_mut().zip(weights).for_each(|(out, weight)| *out += input * weight);
    }
    output.map(|value| value.max(0.0))
}

/// Weights of [`HIDDEN`] inputs, given output by output, input by input.
pub(super) fn by_input(by_output: &[f32]) -> Vec<f32> {
    let inputs = 0..HIDDEN;
    inputs
        .flat_map(|input| by_output.chunks_exact(HIDDEN).map(move |weights| weights[input]))
        .collect()
}
