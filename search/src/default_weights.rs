//! The weights files that ship with the engine.

use std::env::current_exe;
use std::path::{Path, PathBuf};

use anyhow::Result;
use azimuth_network::weights::Weights;

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
