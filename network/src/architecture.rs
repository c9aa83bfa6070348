//! The encoder architectures with their sizes, and the batches of positions that they read.

use std::fmt;

use azimuth_chess::placement::Placement;
use azimuth_chess::tokens::{self, Tokens};
use cozy_chess::Board;
use serde::{Deserialize, Serialize};

use crate::parameters::ParameterSpec;
use crate::sparse::SparseConfig;
use crate::sparse::features::{FeatureBatch, FeatureSet};
use crate::transformer::TransformerConfig;

/// The encoder of a weights file, with its sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Architecture {
    /// The paper's transformer over 77 tokens.
    Transformer(TransformerConfig),
    /// Summed embeddings of attack-aware features, for CPUs.
    Sparse(SparseConfig),
}

impl Architecture {
    /// The form of the encoder's input.
    pub fn input_kind(&self) -> InputKind {
        match self {
            Self::Transformer(_) => InputKind::Tokens,
            Self::Sparse(config) => InputKind::Features(config.features),
        }
    }

    /// The side whose win the axis of this encoder's space points to.
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

impl fmt::Display for Architecture {
    /// A short name: `sparse 512`, `mini`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = [
            ("mini", TransformerConfig::mini()),
            ("small", TransformerConfig::small()),
            ("base", TransformerConfig::base()),
        ];
        match self {
            Self::Sparse(config) => write!(f, "sparse {}", config.accumulator),
            Self::Transformer(config) => match sizes.iter().find(|(_, known)| known == config) {
                Some((name, _)) => f.write_str(name),
                None => write!(f, "transformer {} x {}", config.layers, config.hidden),
            },
        }
    }
}

/// The side that wins at a score of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Perspective {
    /// Scores point to White's win, whichever side is to move.
    White,
    /// Scores point to the win of the side to move.
    SideToMove,
}

/// The input of an encoder for one position.
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

    /// A batch of `boards`.
    pub fn of<'a>(kind: InputKind, boards: impl IntoIterator<Item = &'a Board>) -> Self {
        let mut inputs = Self::new(kind);
        boards.into_iter().for_each(|board| inputs.push(board));
        inputs
    }

    /// The features, if the batch contains features.
    #[inline]
    pub fn features(&self) -> Option<&FeatureBatch> {
        match self {
            Self::Tokens(_) => None,
            Self::Features(features) => Some(features),
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
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Tokens(tokens) => tokens.len(),
            Self::Features(features) => features.len(),
        }
    }

    /// Whether the batch holds no position.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Empties the batch and keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        match self {
            Self::Tokens(tokens) => tokens.clear(),
            Self::Features(features) => features.clear(),
        }
    }
}
