//! The layers between the hidden layer and the embedding, for play. They use f32, because they are
//! small.

use multiversion::multiversion;

use azimuth_network::sparse::HIDDEN;

/// A square layer of [`HIDDEN`] neurons, in f32.
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

    /// The output of the layer for `input`, with ReLU.
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

/// Transposes weights with [`HIDDEN`] inputs from output-major to input-major order.
pub(super) fn by_input(by_output: &[f32]) -> Vec<f32> {
    let inputs = 0..HIDDEN;
    inputs
        .flat_map(|input| by_output.chunks_exact(HIDDEN).map(move |weights| weights[input]))
        .collect()
}
