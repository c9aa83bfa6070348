//! The weights that are embedded in the program.

use anyhow::{Context, Result};
use azimuth_network::weights::Weights;
use azimuth_search::DefaultWeights;

// Statics, because inlined functions would duplicate the data in every program.
static BEAM: &[u8] = include_bytes!("../../weights/beam.safetensors");
static SELECTIVE: &[u8] = include_bytes!("../../weights/selective.safetensors");

/// The bytes of a weights file.
pub fn bytes(which: DefaultWeights) -> &'static [u8] {
    match which {
        DefaultWeights::Beam => BEAM,
        DefaultWeights::Selective => SELECTIVE,
    }
}

/// Reads embedded weights.
pub fn read(which: DefaultWeights) -> Result<Weights> {
    Weights::from_bytes(bytes(which)).with_context(|| format!("embedded weights ({which:?})"))
}
