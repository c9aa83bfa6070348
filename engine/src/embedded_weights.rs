//! The weights that are embedded in the program. In WebAssembly, the page gives them.

use anyhow::{Context, Result};
use azimuth_network::weights::Weights;
use azimuth_search::DefaultWeights;

#[cfg(not(target_family = "wasm"))]
pub use embedded::{bytes, read};
#[cfg(target_family = "wasm")]
pub use given::{give, read};

#[cfg(not(target_family = "wasm"))]
mod embedded {
    use super::*;

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
}

#[cfg(target_family = "wasm")]
mod given {
    use std::collections::BTreeMap;
    use std::sync::{Mutex, PoisonError};

    use super::*;

    static WEIGHTS: Mutex<BTreeMap<DefaultWeights, Weights>> = Mutex::new(BTreeMap::new());

    /// Takes the bytes of a weights file. Fails if they are none.
    pub fn give(which: DefaultWeights, bytes: &[u8]) -> Result<()> {
        let weights = Weights::from_bytes(bytes).with_context(|| format!("weights ({which:?})"))?;
        WEIGHTS.lock().unwrap_or_else(PoisonError::into_inner).insert(which, weights);
        Ok(())
    }

    /// The weights that the page has given.
    pub fn read(which: DefaultWeights) -> Result<Weights> {
        let given = WEIGHTS.lock().unwrap_or_else(PoisonError::into_inner);
        given
            .get(&which)
            .cloned()
            .with_context(|| format!("the page has not given weights ({which:?})"))
    }
}
