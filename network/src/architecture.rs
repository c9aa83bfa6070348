//! The encoder architectures and their sizes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::inputs::InputKind;
use crate::parameters::ParameterSpec;
use crate::sparse::SparseConfig;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Perspective {
    /// Scores point to White's win, whichever side is to move.
    White,
    /// Scores point to the win of the side to move.
    SideToMove,
}
