//! What search, worker and trainer see of an encoder, whatever stands behind it.

use anyhow::{Context, Result};

use azimuth_network::Perspective;
use azimuth_network::axis::Axis;
use azimuth_network::{InputKind, Inputs};

/// What search and worker need to know of an encoder.
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    /// What it reads.
    pub input: InputKind,
    /// Whose win its axis points to.
    pub perspective: Perspective,
    /// Dimension of its embeddings.
    pub embedding_dim: usize,
    /// Positions a batch from which on larger batches gain little.
    pub recommended_batch: usize,
    /// Largest batch that it takes.
    pub maximum_batch: usize,
    /// Whether it gains from batches of few different sizes, for which a device then has what it needs.
    pub fixed_sizes: bool,
}

/// One score for every position of a batch.
pub enum Scores {
    /// Computed by the calling thread.
    Ready(Vec<f32>),
    /// Being computed by a device.
    Pending(Box<dyn PendingScores>),
}

/// Scores that a device computes.
pub trait PendingScores {
    /// Whether there is nothing to wait for any more.
    fn is_ready(&self) -> bool;

    /// Waits for the scores. Fails on a device error.
    fn wait(self: Box<Self>) -> Result<Vec<f32>>;
}

impl Scores {
    /// Waits for the scores, if need be.
    pub fn wait(self) -> Result<Vec<f32>> {
        match self {
            Self::Ready(scores) => Ok(scores),
            Self::Pending(pending) => pending.wait(),
        }
    }
}

/// Maps positions to unit vectors on one device.
pub trait Encoder: Send {
    /// Batch sizes, dimensions and what the encoder reads.
    fn attributes(&self) -> Attributes;

    /// Unit embeddings, row by row: `inputs.len()` x `embedding_dim`. Fails on a device error.
    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>>;

    /// Begins to compute the positions' cosines with `axis`, always the same one. A device error, which may
    /// be [`super::OutOfMemory`], comes now or with the scores.
    fn begin(&mut self, inputs: &Inputs, axis: &Axis) -> Result<Scores> {
        Ok(Scores::Ready(axis.cosines(&self.encode(inputs)?)))
    }

    /// The cosine of the only position of `inputs`, as [`Self::begin`] computes it, waited for.
    fn cosine(&mut self, inputs: &Inputs, axis: &Axis) -> Result<f32> {
        let cosines = self.begin(inputs, axis)?.wait()?;
        cosines.first().copied().context("the encoder scored nothing")
    }

    /// The same encoder by candle's operations alone, where it has others.
    fn composed(&self) -> Option<Box<dyn Encoder>> {
        None
    }

    /// A copy for the calling thread, where running there beats handing batches to another thread.
    fn for_caller(&self) -> Option<Box<dyn Encoder>> {
        None
    }
}
