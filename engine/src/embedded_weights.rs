//! The weights that are part of the program.

use std::path::Path;

use anyhow::{Context, Result};
use azimuth_network::weights::Weights;

/// The weights that are part of the program, for each planner its own: those of the selective search are trained
/// where that search stands, and the ratings of a limited strength were measured with the beam's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Embedded {
    /// The beam's, `weights/default.safetensors`.
    Beam,
    /// The selective search's, `weights/selective.safetensors`.
    Selective,
}

// Statics: what a function holds itself is copied into every program that it is inlined into.
static BEAM: &[u8] = include_bytes!("../../weights/default.safetensors");
static SELECTIVE: &[u8] = include_bytes!("../../weights/selective.safetensors");

impl Embedded {
    /// The weights file.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::Beam => BEAM,
            Self::Selective => SELECTIVE,
        }
    }

    /// The weights, read from the program.
    pub fn weights(self) -> Result<Weights> {
        Weights::from_bytes(self.bytes()).with_context(|| format!("embedded weights ({self:?})"))
    }

    /// The weights file at `path`; these weights where there is none.
    pub fn or_read(self, path: Option<&Path>) -> Result<Weights> {
        path.map_or_else(|| self.weights(), Weights::read)
    }
}
