//! Trained models: an encoder with the space that it maps positions to, the value of a point in
//! this space, and the weights files that ship.

use std::env::current_exe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, ensure};
use azimuth_network::axis::Axis;
use azimuth_network::calibration::Calibration;
use azimuth_network::weights::Weights;
use azimuth_network::{Inputs, Perspective};
use candle_core::{DType, Device};
use cozy_chess::Color;

use crate::encoder::{self, Attributes, EncodeError, Encoder, Scores};

/// An encoder with its space.
pub struct Model {
    pub(super) encoder: Box<dyn Encoder>,
    space: Arc<Space>,
}

impl Model {
    /// The model of `weights` on `device`. Fails if the device fails, or if the integer encoder
    /// cannot hold the weights.
    pub fn new(weights: &Weights, device: &Device, dtype: DType) -> Result<Self> {
        Self::with_encoder(encoder::build(weights, device, dtype)?, weights)
    }

    /// A model with any encoder, in the space of `weights`. Fails if the encoder's embeddings do
    /// not have the dimension of the space.
    pub fn with_encoder(encoder: Box<dyn Encoder>, weights: &Weights) -> Result<Self> {
        let space = Arc::new(Space::of(weights));
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

/// The advantage axis of a space, and the calibration of cosines with it.
#[derive(Clone, Debug)]
pub struct Space {
    /// The axis, which points from lost to won.
    pub axis: Axis,
    /// Cosine to win probability, both in the space's perspective.
    pub calibration: Calibration,
    /// The side whose win the axis points to.
    pub perspective: Perspective,
}

impl Space {
    /// The space of `weights`.
    pub fn of(weights: &Weights) -> Self {
        Self {
            axis: weights.axis.clone(),
            calibration: weights.calibration.clone(),
            perspective: weights.metadata.architecture.perspective(),
        }
    }

    /// The value of a position for the side to move, in [-1, 1]: `2p - 1` for a win probability p.
    /// `cosine` is that of its embedding with the axis.
    pub fn value(&self, cosine: f32, side_to_move: Color) -> f32 {
        let p = self.calibration.win_probability(cosine);
        if self.is_seen_by_opponent(side_to_move) { 1.0 - 2.0 * p } else { 2.0 * p - 1.0 }
    }

    /// The cosine from the side to move's view: larger is better.
    pub fn cosine_for_side_to_move(&self, cosine: f32, side_to_move: Color) -> f32 {
        if self.is_seen_by_opponent(side_to_move) { -cosine } else { cosine }
    }

    /// The cosine from White's view.
    pub fn cosine_for_white(&self, cosine: f32, side_to_move: Color) -> f32 {
        let for_black = side_to_move == Color::Black;
        if self.perspective == Perspective::SideToMove && for_black { -cosine } else { cosine }
    }

    fn is_seen_by_opponent(&self, side_to_move: Color) -> bool {
        self.perspective == Perspective::White && side_to_move == Color::Black
    }
}

/// The weights files in the folder `weights`, by planner. The selective search's were trained on
/// leaves of its searches, among other positions; the ratings of limited strength were measured
/// with the beam's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefaultWeights {
    /// The beam's weights, `beam.safetensors`.
    Beam,
    /// The selective search's weights, `selective.safetensors`.
    Selective,
}

impl DefaultWeights {
    /// The file: in the folder `weights` beside the program, as in a release, otherwise in that of
    /// the source code.
    pub fn path(self) -> PathBuf {
        let name = match self {
            Self::Beam => "weights/beam.safetensors",
            Self::Selective => "weights/selective.safetensors",
        };
        let beside = current_exe().ok().and_then(|program| Some(program.parent()?.join(name)));
        match beside.filter(|path| path.is_file()) {
            Some(path) => path,
            None => Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(name),
        }
    }

    /// Reads the file.
    pub fn weights(self) -> Result<Weights> {
        Weights::read(&self.path())
    }

    /// Reads the weights file at `path`, or this one if there is no path.
    pub fn or_read(self, path: Option<&Path>) -> Result<Weights> {
        path.map_or_else(|| self.weights(), Weights::read)
    }
}
