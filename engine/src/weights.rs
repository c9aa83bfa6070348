//! The weights file: one safetensors file with the encoder's parameters, the axis, the calibration
//! and, in its metadata under `azimuth`, what they are and where they come from.
//!
//! Keys: the parameters of [`Architecture::parameters`], `axis.white_mean`, `axis.black_mean`,
//! `axis.fitted` (optional), `calibration.cosine`, `calibration.win_probability`.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use candle_core::safetensors::Load;
use candle_core::{DType, Device, Tensor};
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::axis::{Axis, Calibration, Direction};
use crate::encoder::parameters::Parameters;
use crate::encoder::sparse::quantised::QuantisedEncoder;
use crate::encoder::transformer::CpuTransformer;
#[cfg(feature = "cuda")]
use crate::encoder::transformer::GpuTransformer;
use crate::encoder::{Architecture, Encoder};

/// Version of the file's layout; a newer one is refused.
pub const FORMAT_VERSION: u32 = 1;

/// No encoder comes near this; a larger file is something else, and is not read into memory.
const LARGEST_FILE: u64 = 4 << 30;

const METADATA_KEY: &str = "azimuth";

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
}

/// What a weights file says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metadata {
    /// Layout of the file, see [`FORMAT_VERSION`].
    pub format_version: u32,
    /// Kind and sizes of the encoder.
    pub architecture: Architecture,
    /// Tokeniser or feature set.
    pub input: String,
    /// The direction that plays.
    pub direction: Direction,
    /// Data files with their hashes, steps, seed, optimiser, the trainer's version.
    pub training: serde_json::Value,
    /// Held-out metrics.
    pub metrics: serde_json::Value,
}

impl Metadata {
    /// Metadata of weights written by this version.
    pub fn new(
        architecture: Architecture,
        direction: Direction,
        training: serde_json::Value,
        metrics: serde_json::Value,
    ) -> Self {
        let input = input_name(&architecture);
        Self { format_version: FORMAT_VERSION, architecture, input, direction, training, metrics }
    }
}

/// The tokeniser or feature set that an architecture's parameters are trained with.
fn input_name(architecture: &Architecture) -> String {
    match architecture {
        Architecture::Transformer(_) => "chessbench-77".to_owned(),
        Architecture::Sparse(config) => config.features.to_string(),
    }
}

/// Everything that playing needs of a trained space.
#[derive(Clone, Debug)]
pub struct Weights {
    /// What the file says of itself.
    pub metadata: Metadata,
    /// The encoder's parameters, f32 on the CPU.
    pub parameters: Parameters,
    /// The stored directions.
    pub axis: Axis,
    /// Cosine to win probability.
    pub calibration: Calibration,
}

impl Weights {
    /// Weights that are part of the program.
    pub fn embedded(which: Embedded) -> Result<Self> {
        Self::from_bytes(which.bytes()).with_context(|| format!("embedded weights ({which:?})"))
    }

    /// The weights file at `path`, the embedded one where `None`.
    pub fn read_or_embedded(path: Option<&Path>, which: Embedded) -> Result<Self> {
        path.map_or_else(|| Self::embedded(which), Self::read)
    }

    /// Reads and checks a weights file. Fails with one line that names the file, the key and what
    /// was expected.
    pub fn read(path: &Path) -> Result<Self> {
        let name = || format!("weights file '{}'", path.display());
        let metadata = fs::metadata(path).with_context(name)?;
        // Reading a pipe or a device could take for ever.
        ensure!(metadata.is_file(), "{}: not a regular file", name());
        ensure!(metadata.len() <= LARGEST_FILE, "{}: larger than 4 GiB", name());
        let bytes = fs::read(path).with_context(name)?;
        Self::from_bytes(&bytes).with_context(name)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let malformed = |error| anyhow!("not a complete safetensors file ({error})");
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(malformed)?;
        let text = header
            .metadata()
            .as_ref()
            .and_then(|entries| entries.get(METADATA_KEY))
            .with_context(|| format!("metadata key '{METADATA_KEY}' is missing"))?;
        let metadata = read_metadata(text)?;
        let file = SafeTensors::deserialize(bytes).map_err(malformed)?;

        let tensor = |name: &str| -> Result<Tensor> {
            let view = file.tensor(name).map_err(|_| anyhow!("tensor '{name}' is missing"))?;
            let floats = [Dtype::F32, Dtype::F16, Dtype::BF16].contains(&view.dtype());
            ensure!(
                floats,
                "tensor '{name}' has dtype {:?}, expected F32, F16 or BF16",
                view.dtype()
            );
            Ok(view.load(&Device::Cpu)?.to_dtype(DType::F32)?)
        };
        let vector = |name: &str| -> Result<Vec<f32>> {
            tensor(name)?.to_vec1().map_err(|_| anyhow!("tensor '{name}' is not one-dimensional"))
        };
        let dim = metadata.architecture.embedding_dim();
        let direction = |name: &str| -> Result<Vec<f32>> {
            let values = vector(name)?;
            ensure!(values.len() == dim, "'{name}' has length {}, expected {dim}", values.len());
            Ok(values)
        };

        let specs = metadata.architecture.parameters();
        let named = specs.iter().map(|spec| Ok((spec.name.clone(), tensor(&spec.name)?)));
        let parameters = Parameters::new(named.collect::<Result<Vec<_>>>()?);
        parameters.check(&specs)?;
        let fitted = match file.names().contains(&"axis.fitted") {
            true => Some(direction("axis.fitted")?),
            false => None,
        };
        let axis = Axis::new(
            direction("axis.white_mean")?,
            direction("axis.black_mean")?,
            fitted,
            metadata.direction,
        )?;
        let calibration = Calibration::new(
            vector("calibration.cosine")?,
            vector("calibration.win_probability")?,
        )?;
        Ok(Self { metadata, parameters, axis, calibration })
    }

    /// Writes the file in one step: readers see the old one or the new one.
    pub fn write(&self, path: &Path) -> Result<()> {
        let vector = |values: &[f32]| Tensor::from_slice(values, values.len(), &Device::Cpu);
        let mut tensors: HashMap<String, Tensor> =
            self.parameters.iter().map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
        for (name, values) in [
            ("axis.white_mean", Some(self.axis.white_mean.as_slice())),
            ("axis.black_mean", Some(self.axis.black_mean.as_slice())),
            ("axis.fitted", self.axis.fitted.as_deref()),
            ("calibration.cosine", Some(self.calibration.cosines())),
            ("calibration.win_probability", Some(self.calibration.win_probabilities())),
        ] {
            if let Some(values) = values {
                tensors.insert(name.to_owned(), vector(values)?);
            }
        }
        let metadata = serde_json::to_string(&self.metadata)?;
        let header = HashMap::from([(METADATA_KEY.to_owned(), metadata)]);
        let bytes = safetensors::serialize(&tensors, Some(header))?;
        replace_file(path, &bytes)
    }

    /// The encoder on `device`: the integer path for a sparse encoder on the CPU, candle otherwise.
    pub fn encoder(&self, device: &Device, dtype: DType) -> Result<Box<dyn Encoder>> {
        Ok(match &self.metadata.architecture {
            Architecture::Sparse(config) => {
                Box::new(QuantisedEncoder::new(config, &self.parameters)?)
            }
            Architecture::Transformer(config) => match device {
                #[cfg(feature = "cuda")]
                Device::Cuda(_) => {
                    Box::new(GpuTransformer::new(config, &self.parameters, device, dtype)?)
                }
                _ => Box::new(CpuTransformer::new(config, &self.parameters, dtype)?),
            },
        })
    }
}

/// Writes `bytes` to `path` by way of a file beside it, so that `path` is never half written.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let partial = path.with_extension("partial");
    let write = || -> std::io::Result<()> {
        let mut file = fs::File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&partial, path)
    };
    write().with_context(|| format!("cannot write '{}'", path.display()))
}

fn read_metadata(text: &str) -> Result<Metadata> {
    let unreadable = || format!("metadata key '{METADATA_KEY}' is not readable");
    let entries: serde_json::Value = serde_json::from_str(text).with_context(unreadable)?;
    let version = entries["format_version"].as_u64().with_context(|| {
        format!("metadata key '{METADATA_KEY}.format_version' is missing or not a number")
    })?;
    ensure!(
        version == u64::from(FORMAT_VERSION),
        "format version {version}, expected {FORMAT_VERSION}: this file needs a newer Azimuth"
    );
    let metadata: Metadata = serde_json::from_value(entries).with_context(unreadable)?;
    match &metadata.architecture {
        Architecture::Sparse(config) => config.check()?,
        Architecture::Transformer(config) => config.check()?,
    }
    let expected = input_name(&metadata.architecture);
    ensure!(metadata.input == expected, "input '{}', expected '{expected}'", metadata.input);
    Ok(metadata)
}
