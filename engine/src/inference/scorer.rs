//! From a batch of positions to calibrated win probabilities.

use std::sync::Arc;

use anyhow::Result;
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;

use crate::encoder::{Encoder, Scores};

/// An encoder, read by the axis and calibration of its weights.
pub struct Scorer {
    pub weights: Arc<Weights>,
    pub encoder: Box<dyn Encoder>,
}

impl Scorer {
    /// Win probabilities in the encoder's perspective.
    pub fn score(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
        let cosines = self.cosines(inputs, self.encoder.attributes().maximum_batch)?;
        Ok(self.win_probabilities(&cosines))
    }

    /// Win probability, in the encoder's perspective, of the only position of `inputs`.
    pub fn score_one(&mut self, inputs: &Inputs) -> Result<f32> {
        let cosine = self.encoder.cosine(inputs, &self.weights.axis)?;
        Ok(self.weights.calibration.win_probability(cosine))
    }

    /// Begins a batch of no more than the encoder takes.
    pub fn begin(&mut self, inputs: &Inputs) -> Result<Scores> {
        self.encoder.begin(inputs, &self.weights.axis)
    }

    /// Cosines with the axis, in batches of at most `largest`.
    pub fn cosines(&mut self, inputs: &Inputs, largest: usize) -> Result<Vec<f32>> {
        if inputs.len() <= largest {
            return self.begin(inputs)?.wait();
        }
        let mut cosines = Vec::with_capacity(inputs.len());
        for part in inputs.parts(largest) {
            cosines.extend(self.begin(&part)?.wait()?);
        }
        Ok(cosines)
    }

    /// The calibrated meaning of cosines.
    pub fn win_probabilities(&self, cosines: &[f32]) -> Vec<f32> {
        cosines.iter().map(|&cosine| self.weights.calibration.win_probability(cosine)).collect()
    }
}
