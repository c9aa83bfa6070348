//! A trained model: an encoder, and the space that it maps positions to.

use std::sync::Arc;

use anyhow::{Result, ensure};
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};
use cozy_chess::Board;

use crate::encoder::{self, Attributes, EncodeError, Encoder, Scores};
use crate::space::Space;

/// An encoder with its space.
pub struct Model {
    encoder: Box<dyn Encoder>,
    space: Arc<Space>,
}

impl Model {
    /// The model of `weights` on `device`. Fails if the device fails, or if the integer encoder
    /// cannot hold the weights.
    pub fn new(weights: &Weights, device: &Device, dtype: DType) -> Result<Self> {
        let encoder = encoder::build(weights, device, dtype)?;
        Self::with_encoder(encoder, Arc::new(Space::of(weights)))
    }

    /// A model with a given encoder. Fails if its embeddings do not have the dimension of the
    /// space.
    pub fn with_encoder(encoder: Box<dyn Encoder>, space: Arc<Space>) -> Result<Self> {
        let (found, expected) = (encoder.attributes().embedding_dim, space.axis.dim());
        ensure!(found == expected, "the encoder has {found} dimensions, its axis {expected}");
        Ok(Self { encoder, space })
    }

    /// The encoder's attributes.
    pub fn attributes(&self) -> Attributes {
        self.encoder.attributes()
    }

    /// The space of the embeddings.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Starts to compute the cosines of a batch, which must not be larger than the encoder's
    /// maximum.
    pub fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
        self.encoder.begin(inputs)
    }

    /// The cosine of one position with the axis, in the space's perspective.
    pub fn cosine(&mut self, board: &Board) -> Result<f32, EncodeError> {
        self.encoder.cosine(board)
    }

    /// Cosines with the axis, in the space's perspective, in batches of at most `largest`.
    pub fn cosines(&mut self, inputs: &Inputs, largest: usize) -> Result<Vec<f32>, EncodeError> {
        in_parts(inputs, largest, |part| self.encoder.begin(part)?.wait())
    }

    /// Unit embeddings, row by row, in batches of at most `largest`.
    pub fn embeddings(&mut self, inputs: &Inputs, largest: usize) -> Result<Vec<f32>, EncodeError> {
        in_parts(inputs, largest, |part| self.encoder.encode(part))
    }

    /// A copy for another thread; `None` unless the encoder is fast enough to run on the search
    /// threads.
    pub fn for_caller(&self) -> Option<Self> {
        Some(Self { encoder: self.encoder.for_caller()?, space: self.space.clone() })
    }

    /// A copy with the same parameters in memory; `None` if a device has the encoder's buffers.
    pub fn copy(&self) -> Option<Self> {
        Some(Self { encoder: self.encoder.copy()?, space: self.space.clone() })
    }
}

fn in_parts(
    inputs: &Inputs,
    largest: usize,
    mut compute: impl FnMut(&Inputs) -> Result<Vec<f32>, EncodeError>,
) -> Result<Vec<f32>, EncodeError> {
    if inputs.len() <= largest {
        return compute(inputs);
    }
    let mut all = Vec::new();
    for part in inputs.parts(largest) {
        all.extend(compute(&part)?);
    }
    Ok(all)
}
