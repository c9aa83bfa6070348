//! The weights file: one safetensors file with the encoder's parameters, the axis and the
//! calibration. Its metadata contain, under `azimuth`, a description of them and their origin. A
//! [`checksum`] in the metadata detects damage; files of older versions have none. The error for a
//! file that is not weights says what it is and how to use it.
//!
//! Keys: the parameters of [`Architecture::parameters`], `axis.white_mean`, `axis.black_mean`,
//! `axis.fitted` (optional), `calibration.cosine`, `calibration.win_probability`, and, if the
//! weights have a [`policy`](crate::policy) head, its tensors with the prefix `policy.`.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::safetensors::Load;
use candle_core::{DType, Device, Tensor};
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::axis::{Axis, Direction};
use crate::calibration::Calibration;
use crate::parameters::Parameters;
use crate::policy::{Policy, PolicyConfig};
use crate::replace_file::replace_file;
use crate::{Architecture, checksum};

/// Version of the file's layout; a newer one is refused.
pub const FORMAT_VERSION: u32 = 1;

/// Maximum size of a file, in bytes: no encoder comes near it. A larger file is something else, and
/// is not read into memory.
const LARGEST_FILE: u64 = 4 << 30;

const METADATA_KEY: &str = "azimuth";

/// Prefix of the policy head's tensors.
const POLICY: &str = "policy.";

/// Metadata of a weights file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metadata {
    /// Layout of the file, see [`FORMAT_VERSION`].
    pub format_version: u32,
    /// Kind and sizes of the encoder.
    pub architecture: Architecture,
    /// Tokeniser or feature set.
    pub input: String,
    /// The direction that gives the scores.
    pub direction: Direction,
    /// Data files with their hashes, steps, seed, optimiser, and the trainer's version.
    pub training: Value,
    /// Held-out metrics.
    pub metrics: Value,
    /// Sizes of the file's policy head, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyConfig>,
}

/// The tokeniser or feature set that an architecture's parameters are trained with.
fn input_name(architecture: &Architecture) -> String {
    match architecture {
        Architecture::Transformer(_) => "chessbench-77".to_owned(),
        Architecture::Sparse(config) => config.features.to_string(),
    }
}

/// A trained space with everything that playing needs.
///
/// ```
/// use azimuth_network::Architecture;
/// use azimuth_network::weights::Weights;
///
/// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../weights");
/// let weights = Weights::read(format!("{folder}/mini.safetensors").as_ref())?;
/// assert!(matches!(weights.metadata.architecture, Architecture::Transformer(_)));
/// assert_eq!(weights.axis.dim(), weights.metadata.architecture.embedding_dim());
/// // A cosine of 1 is nearly a win.
/// assert!(weights.calibration.win_probability(1.0) > 0.9);
///
/// let error = Weights::read("missing.safetensors".as_ref()).unwrap_err().to_string();
/// assert_eq!(error, "weights file 'missing.safetensors'");
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Weights {
    /// The file's metadata.
    pub metadata: Metadata,
    /// The encoder's parameters, f32 on the CPU.
    pub parameters: Parameters,
    /// The stored directions.
    pub axis: Axis,
    /// Cosine to win probability.
    pub calibration: Calibration,
    /// The policy head.
    pub policy: Option<Arc<Policy>>,
}

impl Weights {
    /// Weights whose space is not fitted: the axis is a placeholder, and the calibration a line.
    pub fn without_space(architecture: Architecture, parameters: Parameters) -> Result<Self> {
        let dim = architecture.embedding_dim();
        let metadata = Metadata {
            format_version: FORMAT_VERSION,
            input: input_name(&architecture),
            architecture,
            direction: Direction::Mates,
            training: Value::Null,
            metrics: Value::Null,
            policy: None,
        };
        let axis = Axis::new(vec![1.0; dim], vec![0.0; dim], None, Direction::Mates)?;
        let calibration = Calibration::new(vec![-1.0, 1.0], vec![0.0, 1.0])?;
        Ok(Self { metadata, parameters, axis, calibration, policy: None })
    }

    /// Reads and checks a weights file. Fails with one line that names the file, the key and the
    /// expected value.
    pub fn read(path: &Path) -> Result<Self> {
        let name = || format!("weights file '{}'", path.display());
        let metadata = fs::metadata(path).with_context(name)?;
        // Reading a pipe or a device could block for ever.
        ensure!(metadata.is_file(), "{}: not a regular file", name());
        let mut start = Vec::new();
        let file = File::open(path).with_context(name)?;
        file.take(START_BYTES as u64).read_to_end(&mut start).with_context(name)?;
        if let Some(kind) = kind_by_start(&start) {
            bail!("{}: no weights, but {kind}", name());
        }
        ensure!(metadata.len() <= LARGEST_FILE, "{}: larger than 4 GiB", name());
        let bytes = fs::read(path).with_context(name)?;
        checksum::check(&bytes).with_context(name)?;
        Self::from_bytes(&bytes).with_context(name)
    }

    /// Reads a weights file from memory. Fails as [`Self::read`] does, except that it does not
    /// verify the checksum, which would delay each start with the embedded weights.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let malformed = |error| anyhow!("not a complete safetensors file ({error})");
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(malformed)?;
        let entries = header.metadata().as_ref();
        let entry = |key: &str| entries.and_then(|entries| entries.get(key));
        let Some(text) = entry(METADATA_KEY) else {
            match kind_by_metadata(entry("config"), entry("rival")) {
                Some(kind) => bail!("no weights, but {kind}"),
                None => bail!("no weights of Azimuth: metadata key '{METADATA_KEY}' is missing"),
            }
        };
        let metadata = read_metadata(text)?;
        let file = SafeTensors::deserialize(bytes).map_err(malformed)?;

        let stored =
            |name: &str| file.tensor(name).map_err(|_| anyhow!("tensor '{name}' is missing"));
        let tensor = |name: &str| -> Result<Tensor> {
            let view = stored(name)?;
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
        let is_fitted = file.tensor("axis.fitted").is_ok();
        let fitted = is_fitted.then(|| direction("axis.fitted")).transpose()?;
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
        let of_policy = |name: &str| -> Result<Tensor> {
            Ok(stored(&format!("{POLICY}{name}"))?.load(&Device::Cpu)?)
        };
        let policy = metadata.policy.clone();
        let policy = policy.map(|config| Policy::from_stored(config, of_policy)).transpose();
        let policy = policy.context("policy head")?;
        Ok(Self { metadata, parameters, axis, calibration, policy: policy.map(Arc::new) })
    }

    /// Writes the file atomically: readers see the old file or the new one.
    pub fn write(&self, path: &Path) -> Result<()> {
        let vector = |values: &[f32]| Tensor::from_slice(values, values.len(), &Device::Cpu);
        let mut tensors: Vec<(String, Tensor)> =
            self.parameters.iter().map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
        for (name, values) in [
            ("axis.white_mean", Some(self.axis.white_mean.as_slice())),
            ("axis.black_mean", Some(self.axis.black_mean.as_slice())),
            ("axis.fitted", self.axis.fitted.as_deref()),
            ("calibration.cosine", Some(self.calibration.cosines())),
            ("calibration.win_probability", Some(self.calibration.win_probabilities())),
        ] {
            if let Some(values) = values {
                tensors.push((name.to_owned(), vector(values)?));
            }
        }
        let mut metadata = self.metadata.clone();
        metadata.policy = self.policy.as_ref().map(|policy| policy.config().clone());
        if let Some(policy) = &self.policy {
            let stored = policy.stored()?.into_iter();
            tensors.extend(stored.map(|(name, tensor)| (format!("{POLICY}{name}"), tensor)));
        }
        let metadata = serde_json::to_string(&metadata)?;
        replace_file(path, &checksum::to_bytes(tensors, [(METADATA_KEY, metadata)])?)
    }
}

fn read_metadata(text: &str) -> Result<Metadata> {
    let unreadable = || format!("metadata key '{METADATA_KEY}' is not readable");
    let entries: Value = serde_json::from_str(text).with_context(unreadable)?;
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

/// The number of bytes that [`kind_by_start`] needs.
const START_BYTES: usize = 16;

/// The kind of a file by its first bytes, and its use; `None` for a kind that is not known, or for
/// safetensors.
fn kind_by_start(start: &[u8]) -> Option<&'static str> {
    match start {
        [_, _, _, _, rest @ ..] if rest == b"azimuth-data" => {
            Some("a dataset; `azimuth-train train --data FILE --out WEIGHTS` trains weights on it")
        }
        // The version of all networks since Stockfish 12, without its lowest byte, which varies.
        [_, 0x2f, 0xf3, 0x7a, ..] => Some(
            "a Stockfish network; `azimuth-train label --network FILE` labels positions with it, \
             and `azimuth-bench` plays with it if its name ends in .nnue",
        ),
        [b'P', b'K', 3, 4, ..] => Some(
            "a zip archive; if it is a PyTorch checkpoint of the paper's authors, `azimuth-train \
             import --checkpoint FILE` writes a weights file from it",
        ),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [b'[', b'E', b'v', b'e', b'n', b't', b' ', ..] => Some(
            "games or other data; if they have labels, `azimuth-train train --data FILE --out \
             WEIGHTS` trains weights on them",
        ),
        _ => None,
    }
}

/// The kind of a safetensors file by metadata that weights do not have: `config` of a checkpoint,
/// or `rival` of a rival's weights.
fn kind_by_metadata(config: Option<&String>, rival: Option<&String>) -> Option<String> {
    let rival_in = |text: &String| -> Option<String> {
        let value: Value = serde_json::from_str(text).ok()?;
        Some(value["rival"].as_str()?.to_owned())
    };
    match (config, rival) {
        (Some(config), _) => Some(match rival_in(config) {
            Some(rival) => format!(
                "a training checkpoint of the rival '{rival}'; `azimuth-rivals train {rival}` \
                 continues it"
            ),
            None => "a training checkpoint; export it first with `azimuth-train export \
                     --checkpoint FILE --data DATA --out WEIGHTS`"
                .to_owned(),
        }),
        (None, Some(text)) => {
            let rival = rival_in(text).unwrap_or_else(|| "RIVAL".to_owned());
            Some(format!(
                "the weights of a rival; play with them by `azimuth-rivals play {rival} --weights \
                 FILE`"
            ))
        }
        (None, None) => None,
    }
}
