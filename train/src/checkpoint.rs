//! Checkpoints: everything that a killed run needs to continue to the same weights.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_network::checksum;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use azimuth_network::replace_file::replace_file;
use candle_core::safetensors::Load;
use candle_core::{Device, Tensor};
use safetensors::SafeTensors;

const STEP: &str = "step";
const CONFIG: &str = "config";

/// A run's state after some steps.
pub struct Checkpoint {
    /// Steps done.
    pub step: u64,
    /// The run's configuration, as JSON.
    pub config: String,
    tensors: HashMap<String, Tensor>,
}

impl Checkpoint {
    /// Collects a run's state.
    pub fn new(step: u64, config: String, state: Vec<(String, Tensor)>) -> Self {
        Self { step, config, tensors: state.into_iter().collect() }
    }

    /// Reads a checkpoint; `None` where there is no such file.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let name = || format!("checkpoint '{}'", path.display());
        if !path.exists() {
            return Ok(None);
        }
        let bytes = std::fs::read(path).with_context(name)?;
        checksum::check(&bytes)
            .map_err(|error| anyhow!("{}: {error}, or delete it to begin anew", name()))?;
        let (_, header) = SafeTensors::read_metadata(&bytes).with_context(name)?;
        let entry = |key: &str| {
            let entries = header.metadata().as_ref();
            entries.and_then(|entries| entries.get(key)).cloned().with_context(name)
        };
        let file = SafeTensors::deserialize(&bytes).with_context(name)?;
        let mut tensors = HashMap::new();
        for (key, view) in file.tensors() {
            tensors.insert(key, view.load(&Device::Cpu)?);
        }
        let step = entry(STEP)?.parse().with_context(name)?;
        Ok(Some(Self { step, config: entry(CONFIG)?, tensors }))
    }

    /// Writes the checkpoint in one step: a kill leaves the old one or the new one.
    pub fn write(&self, path: &Path) -> Result<()> {
        let metadata = [(STEP, self.step.to_string()), (CONFIG, self.config.clone())];
        let tensors = self.tensors.iter().map(|(name, tensor)| (name.clone(), tensor));
        replace_file(path, &checksum::to_bytes(tensors, metadata)?)
    }

    /// Puts a tensor beside the run's state.
    pub fn insert(&mut self, name: &str, tensor: Tensor) {
        self.tensors.insert(name.to_owned(), tensor);
    }

    /// Whether the state has a tensor of that name.
    fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// A tensor of the state.
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        self.tensors.get(name).cloned().ok_or_else(|| anyhow!("checkpoint: '{name}' is missing"))
    }

    /// The parameters that [`prefixed`] put there; nothing where there are none.
    pub fn parameters(&self, prefix: &str, specs: &[ParameterSpec]) -> Result<Option<Parameters>> {
        let key = |spec: &ParameterSpec| format!("{prefix}.{}", spec.name);
        if !specs.iter().any(|spec| self.has(&key(spec))) {
            return Ok(None);
        }
        let tensors = specs.iter().map(|spec| Ok((spec.name.clone(), self.tensor(&key(spec))?)));
        Ok(Some(Parameters::new(tensors.collect::<Result<Vec<_>>>()?)))
    }

    /// Refuses to continue a run under another configuration.
    pub fn check_config(&self, config: &str) -> Result<()> {
        ensure!(
            self.config == config,
            "the checkpoint belongs to another run: it was made with {}; delete it or give those \
             options again",
            self.config
        );
        Ok(())
    }
}

/// Parameters under a prefix, as a checkpoint holds them beside others.
pub fn prefixed(prefix: &str, parameters: Option<&Parameters>) -> Vec<(String, Tensor)> {
    let all = parameters.into_iter().flat_map(Parameters::iter);
    all.map(|(name, tensor)| (format!("{prefix}.{name}"), tensor.clone())).collect()
}
