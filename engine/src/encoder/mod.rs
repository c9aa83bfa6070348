//! Positions to unit vectors: the encoders behind one interface, one file per architecture.

pub mod fused;
pub mod parameters;
pub mod sparse;
mod storage;
pub mod transformer;

use std::fmt;

use anyhow::Result;
use cozy_chess::Board;
use serde::{Deserialize, Serialize};

use crate::axis::Axis;
use crate::placement::Placement;
use crate::tokens::{self, Tokens};
use parameters::ParameterSpec;
use sparse::SparseConfig;
use sparse::features::{FeatureBatch, FeatureSet};
use transformer::TransformerConfig;

/// Which encoder a weights file holds, with its sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Architecture {
    /// The paper's transformer over 77 tokens.
    Transformer(TransformerConfig),
    /// Summed embeddings of attack-aware features, for CPUs.
    Sparse(SparseConfig),
}

impl Architecture {
    /// What the encoder reads.
    pub fn input_kind(&self) -> InputKind {
        match self {
            Self::Transformer(_) => InputKind::Tokens,
            Self::Sparse(config) => InputKind::Features(config.features),
        }
    }

    /// Whose win the axis of this encoder's space points to.
    pub fn perspective(&self) -> Perspective {
        match self {
            Self::Transformer(_) => Perspective::White,
            Self::Sparse(_) => Perspective::SideToMove,
        }
    }

    /// Dimension of the embeddings.
    pub fn embedding_dim(&self) -> usize {
        match self {
            Self::Transformer(config) => config.embedding_dim,
            Self::Sparse(config) => config.embedding_dim,
        }
    }

    /// Name, shape and initial distribution of every parameter in a weights file.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        match self {
            Self::Transformer(config) => config.parameters(),
            Self::Sparse(config) => config.parameters(),
        }
    }
}

/// Whose win a score of 1 stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Perspective {
    /// Scores point to White's win whoever moves.
    White,
    /// Scores point to the win of the side to move.
    SideToMove,
}

/// What an encoder reads of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// The 77 ChessBench tokens.
    Tokens,
    /// The active features of a set.
    Features(FeatureSet),
}

/// A batch of positions in the form that the encoder reads.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// For [`InputKind::Tokens`].
    Tokens(Vec<Tokens>),
    /// For [`InputKind::Features`].
    Features(FeatureBatch),
}

impl Inputs {
    /// An empty batch.
    pub fn new(kind: InputKind) -> Self {
        match kind {
            InputKind::Tokens => Self::Tokens(Vec::new()),
            InputKind::Features(set) => Self::Features(FeatureBatch::new(set)),
        }
    }

    /// Adds a position.
    pub fn push(&mut self, board: &Board) {
        match self {
            Self::Tokens(tokens) => {
                tokens.push(tokens::tokenize(board, board.halfmove_clock().into()));
            }
            Self::Features(features) => features.push(&Placement::of(board)),
        }
    }

    /// Adds the positions of `other`, which is of the same kind.
    pub fn append(&mut self, other: &Self) {
        match (self, other) {
            (Self::Tokens(all), Self::Tokens(more)) => all.extend_from_slice(more),
            (Self::Features(all), Self::Features(more)) => all.extend(more, 0..more.len()),
            _ => unreachable!("one encoder reads one kind of input"),
        }
    }

    /// The batch in parts of at most `size` positions.
    pub fn parts(&self, size: usize) -> Vec<Self> {
        match self {
            Self::Tokens(tokens) => {
                tokens.chunks(size).map(|part| Self::Tokens(part.to_vec())).collect()
            }
            Self::Features(features) => (0..features.len())
                .step_by(size)
                .map(|first| {
                    Self::Features(features.part(first..(first + size).min(features.len())))
                })
                .collect(),
        }
    }

    /// Repeats the last position until there are `size`; an empty batch stays empty.
    pub fn pad(&mut self, size: usize) {
        let Some(missing) = size.checked_sub(self.len()).filter(|_| !self.is_empty()) else {
            return;
        };
        match self {
            Self::Tokens(tokens) => tokens.resize(size, tokens[tokens.len() - 1]),
            Self::Features(features) => {
                let last = features.part(features.len() - 1..features.len());
                (0..missing).for_each(|_| features.extend(&last, 0..1));
            }
        }
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        match self {
            Self::Tokens(tokens) => tokens.len(),
            Self::Features(features) => features.len(),
        }
    }

    /// Whether the batch holds no position.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        match self {
            Self::Tokens(tokens) => tokens.clear(),
            Self::Features(features) => features.clear(),
        }
    }
}

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
    Coming(Box<dyn Coming>),
}

/// Scores that a device computes.
pub trait Coming {
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
            Self::Coming(coming) => coming.wait(),
        }
    }
}

/// A batch was too large for what memory the device has left.
#[derive(Debug)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the device is out of memory")
    }
}

impl std::error::Error for OutOfMemory {}

/// Candle's error in one line, which it is not where RUST_BACKTRACE is set.
#[cfg(feature = "cuda")]
pub(crate) fn without_backtrace(error: candle_core::Error) -> candle_core::Error {
    match error {
        candle_core::Error::WithBacktrace { inner, .. } => without_backtrace(*inner),
        error => error,
    }
}

/// Maps positions to unit vectors on one device.
pub trait Encoder: Send {
    /// Batch sizes, dimensions and what the encoder reads.
    fn attributes(&self) -> Attributes;

    /// Unit embeddings, row by row: `inputs.len()` x `embedding_dim`. Fails on a device error.
    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>>;

    /// Begins to compute the positions' cosines with `axis`, always the same one. A device error, which may
    /// be [`OutOfMemory`], comes now or with the scores.
    fn begin(&mut self, inputs: &Inputs, axis: &Axis) -> Result<Scores> {
        Ok(Scores::Ready(axis.cosines(&self.encode(inputs)?)))
    }

    /// A copy for the calling thread, where running there beats handing batches to another thread.
    fn for_caller(&self) -> Option<Box<dyn Encoder>> {
        None
    }
}
