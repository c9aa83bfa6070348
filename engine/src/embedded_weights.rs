//! The weights that are embedded in the program.

use std::path::Path;

use anyhow::{Context, Result};
use azimuth_network::weights::Weights;

/// The embedded weights of each planner. The selective search's were trained on leaves of its
/// searches, among other positions; the ratings of limited strength were measured with the beam's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EmbeddedWeights {
    /// The beam's weights, `weights/default.safetensors`.
    Beam,
    /// The selective search's weights, `weights/selective.safetensors`.
    Selective,
}

// Statics, because inlined functions would duplicate the data in every program.
static BEAM: &[u8] = include_bytes!("../../weights/default.safetensors");
static SELECTIVE: &[u8] = include_bytes!("../../weights/selective.safetensors");

impl EmbeddedWeights {
    /// The bytes of the weights file.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::Beam => BEAM,
            Self::Selective => SELECTIVE,
        }
    }

    /// Reads the embedded weights.
    pub fn weights(self) -> Result<Weights> {
        Weights::from_bytes(self.bytes()).with_context(|| format!("embedded weights ({self:?})"))
    }

    /// Reads the weights file at `path`, or the embedded weights if there is no path.
    pub fn or_read(self, path: Option<&Path>) -> Result<Weights> {
        path.map_or_else(|| self.weights(), Weights::read)
    }
}
