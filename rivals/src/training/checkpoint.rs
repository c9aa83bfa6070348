//! Checkpoints: what a killed run needs to go on. AdamW's moments are not in them, as candle keeps these to itself: a
//! run that goes on gathers them anew.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_network::checksum;
use azimuth_network::replace_file::replace_file;
use candle_core::safetensors::Load;
use candle_core::{Device, Tensor};
use candle_nn::VarMap;
use safetensors::SafeTensors;

const STEP: &str = "step";
const SECONDS: &str = "seconds";
const RUN: &str = "run";

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reached {
    /// Steps done.
    pub step: u64,
    /// Time that they took.
    pub seconds: f64,
}

/// Writes parameters and how far they have come, in one step. `run` is all that the run was asked for.
pub fn write(path: &Path, run: &str, reached: Reached, parameters: &VarMap) -> Result<()> {
    let metadata = [
        (STEP, reached.step.to_string()),
        (SECONDS, reached.seconds.to_string()),
        (RUN, run.to_owned()),
    ];
    replace_file(path, &checksum::to_bytes(named(parameters)?, metadata)?)
}

/// Takes up what a checkpoint has; nothing where there is none. Fails where it belongs to another run.
pub fn take_up(path: &Path, run: &str, parameters: &mut VarMap) -> Result<Reached> {
    let name = || format!("checkpoint '{}'", path.display());
    if !path.exists() {
        return Ok(Reached::default());
    }
    let bytes = std::fs::read(path).with_context(name)?;
    checksum::check(&bytes)
        .map_err(|error| anyhow!("{}: {error}, or delete it to begin anew", name()))?;
    let malformed = |error| anyhow!("{}: not complete ({error}); delete it", name());
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(malformed)?;
    let entry = |key: &str| {
        let entries = header.metadata().as_ref();
        entries.and_then(|entries| entries.get(key)).cloned().with_context(name)
    };
    let of = entry(RUN)?;
    ensure!(of == run, "{}: of another run, {of}; delete it or give those options again", name());
    let file = SafeTensors::deserialize(&bytes).map_err(malformed)?;
    for (key, _) in named(parameters)? {
        let tensor = file.tensor(&key).map_err(|_| anyhow!("{}: '{key}' is missing", name()))?;
        parameters.set_one(&key, tensor.load(&Device::Cpu)?)?;
    }
    let number = |key: &str| -> Result<f64> { entry(key)?.parse().with_context(name) };
    Ok(Reached { step: number(STEP)? as u64, seconds: number(SECONDS)? })
}

/// The parameters by name.
pub fn named(parameters: &VarMap) -> Result<HashMap<String, Tensor>> {
    let parameters = parameters.data().lock().map_err(|_| anyhow!("parameters are lost"))?;
    Ok(parameters.iter().map(|(name, var)| (name.clone(), var.as_tensor().clone())).collect())
}
