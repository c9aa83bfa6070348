//! Checkpoints: the state from which a killed run resumes to the same weights. A run with other
//! options is refused, with their differences.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use azimuth_network::checksum;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use azimuth_network::replace_file::{read_if_exists, replace_file};
use candle_core::safetensors::Load;
use candle_core::{Device, Tensor};
use safetensors::SafeTensors;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const STEP: &str = "step";
const CONFIG: &str = "config";

/// A run's state after some steps.
#[derive(Debug)]
pub struct Checkpoint {
    /// Number of steps done.
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

    /// Reads the checkpoint of a run, if there is one. Fails if its run has another configuration.
    pub fn of_run(path: &Path, config: &str) -> Result<Option<Self>> {
        let checkpoint = Self::read(path)?;
        if let Some(checkpoint) = &checkpoint {
            let name = || format!("checkpoint '{}'", path.display());
            checkpoint.check_config(config).with_context(name)?;
        }
        Ok(checkpoint)
    }

    /// Reads a checkpoint; `None` if there is no file.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        Self::bytes(path)?.map(|bytes| Self::of_bytes(&bytes, path)).transpose()
    }

    /// The bytes of a checkpoint's file; `None` if there is no file.
    pub fn bytes(path: &Path) -> Result<Option<Vec<u8>>> {
        read_if_exists(path).with_context(|| format!("checkpoint '{}'", path.display()))
    }

    /// The checkpoint in the `bytes` of the file `path`.
    pub fn of_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        let name = || format!("checkpoint '{}'", path.display());
        let malformed = |error| {
            anyhow!("{}: no complete checkpoint ({error}); if it is one, delete it", name())
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(malformed)?;
        let entry = |key: &str| {
            let entries = header.metadata().as_ref();
            let value = entries.and_then(|entries| entries.get(key)).cloned();
            value.with_context(|| format!("{}: no checkpoint: it says no {key}", name()))
        };
        let file = SafeTensors::deserialize(bytes).map_err(malformed)?;
        checksum::check(bytes)
            .map_err(|error| anyhow!("{}: {error}, or delete it to begin anew", name()))?;
        let mut tensors = HashMap::new();
        for (key, view) in file.tensors() {
            tensors.insert(key, view.load(&Device::Cpu)?);
        }
        let step = entry(STEP)?.parse().with_context(name)?;
        Ok(Self { step, config: entry(CONFIG)?, tensors })
    }

    /// Writes the checkpoint atomically: after a kill the file is the old or the new one.
    pub fn write(&self, path: &Path) -> Result<()> {
        let metadata = [(STEP, self.step.to_string()), (CONFIG, self.config.clone())];
        let tensors = self.tensors.iter().map(|(name, tensor)| (name.clone(), tensor));
        replace_file(path, &checksum::to_bytes(tensors, metadata)?)
    }

    /// Adds a tensor to the run's state.
    pub fn insert(&mut self, name: &str, tensor: Tensor) {
        self.tensors.insert(name.to_owned(), tensor);
    }

    /// Adds a value to the run's state, as JSON.
    pub fn insert_json(&mut self, name: &str, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(value)?;
        self.insert(name, Tensor::from_slice(&text, text.len(), &Device::Cpu)?);
        Ok(())
    }

    /// A value stored by [`Self::insert_json`].
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let text: Vec<u8> = self.tensor(name)?.to_vec1()?;
        serde_json::from_slice(&text).with_context(|| format!("checkpoint: '{name}'"))
    }

    /// A tensor of the state.
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        self.tensors.get(name).cloned().ok_or_else(|| anyhow!("checkpoint: '{name}' is missing"))
    }

    /// Parameters stored by [`prefixed`]; `None` if there are none.
    pub fn parameters(&self, prefix: &str, specs: &[ParameterSpec]) -> Result<Option<Parameters>> {
        let key = |spec: &ParameterSpec| format!("{prefix}.{}", spec.name);
        if !specs.iter().any(|spec| self.tensors.contains_key(&key(spec))) {
            return Ok(None);
        }
        let tensors = specs.iter().map(|spec| Ok((spec.name.clone(), self.tensor(&key(spec))?)));
        Ok(Some(Parameters::new(tensors.collect::<Result<Vec<_>>>()?)))
    }

    /// Fails if the run has another configuration; the error names the options that differ.
    pub fn check_config(&self, config: &str) -> Result<()> {
        if self.config == config {
            return Ok(());
        }
        let parsed = |text| serde_json::from_str::<Value>(text);
        let (before, now) = (parsed(&self.config)?, parsed(config)?);
        bail!(
            "its run has other options: {}; give its options again, or delete it to begin anew",
            differences("", &before, &now).join(", ")
        )
    }

    /// Removes the checkpoint of a run that is complete.
    pub fn remove(path: &Path) -> Result<()> {
        std::fs::remove_file(path)
            .with_context(|| format!("cannot remove checkpoint '{}'", path.display()))
    }
}

/// Named tensors of parameters with a prefix, for a checkpoint.
pub fn prefixed(prefix: &str, parameters: Option<&Parameters>) -> Vec<(String, Tensor)> {
    let all = parameters.into_iter().flat_map(Parameters::iter);
    all.map(|(name, tensor)| (format!("{prefix}.{name}"), tensor.clone())).collect()
}

/// The options that differ between two configurations in JSON: `--steps 9 (now 8)`. `key` is the
/// dotted path of the entry with these values; empty for the whole configurations.
fn differences(key: &str, before: &Value, now: &Value) -> Vec<String> {
    if before == now {
        return Vec::new();
    }
    if let (Value::Object(one), Value::Object(other)) = (before, now) {
        // The sizes of encoders of different kinds have nothing in common.
        if one.get("kind") != other.get("kind") {
            return differences(&format!("{key}.kind"), &before["kind"], &now["kind"]);
        }
        if one.contains_key("sha256") {
            return vec![difference_of_files(key, before, now)];
        }
        let keys: BTreeMap<_, _> = one.iter().chain(other).collect();
        let differences_of = |name: &String| {
            let inner = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            differences(&inner, &before[name], &now[name])
        };
        return keys.into_keys().flat_map(differences_of).collect();
    }
    let is_files = [before, now].into_iter().any(|value| !file_names(value).is_empty());
    vec![match (key, is_files) {
        (_, true) => difference_of_files(key, before, now),
        // The option is the opposite of the entry.
        ("sampling.mirror", _) => format!("--no-mirror {} (now {})", before == false, now == false),
        _ => format!("--{} {} (now {})", option_of(key), shown(before), shown(now)),
    }]
}

/// The difference of an entry that describes a file or several.
fn difference_of_files(key: &str, before: &Value, now: &Value) -> String {
    let [one, other] = [file_names(before), file_names(now)].map(|names| names.join(" "));
    let or_none = |names: &str| if names.is_empty() { "none".to_owned() } else { names.to_owned() };
    let option = option_of(key);
    match one == other {
        true => format!("--{option} {one} (now with other content)"),
        false => format!("--{option} {} (now {})", or_none(&one), or_none(&other)),
    }
}

/// The names of a file or several; none if the value describes something else.
fn file_names(value: &Value) -> Vec<&str> {
    let files = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    files.iter().filter_map(|file| file.get("name")?.as_str()).collect()
}

/// Keys of a configuration that are not the names of their options.
const OPTION_NAMES: [(&str, &str); 4] = [
    ("architecture.kind", "encoder"),
    ("schedule.rule", "optimizer"),
    ("losses.margin.delta", "delta"),
    ("losses.margin.delta_equal", "delta-equal"),
];

/// The option that sets an entry: by its last name, but for [`OPTION_NAMES`] and sizes of rivals.
fn option_of(key: &str) -> String {
    if let Some(size) = key.strip_prefix("config.") {
        return format!("size {size}");
    }
    match OPTION_NAMES.iter().find(|(known, _)| *known == key) {
        Some((_, option)) => (*option).to_owned(),
        None => key.rsplit('.').next().unwrap_or(key).replace('_', "-"),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_checkpoint_comes_back_and_a_broken_one_is_refused_in_one_line() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("run.checkpoint");
        assert!(Checkpoint::read(&path)?.is_none());
        let state = vec![("a".to_owned(), Tensor::new(&[0.1f32, -3.0], &Device::Cpu)?)];
        let mut checkpoint = Checkpoint::new(7, "{}".to_owned(), state);
        checkpoint.insert_json("games", &("e2e4", [1, 2]))?;
        checkpoint.write(&path)?;
        let read = Checkpoint::read(&path)?.context("it is there")?;
        assert_eq!((read.step, read.tensor("a")?.to_vec1::<f32>()?), (7, vec![0.1, -3.0]));
        assert_eq!(read.json::<(String, [u8; 2])>("games")?, ("e2e4".to_owned(), [1, 2]));
        read.check_config("{}")?;

        let refused = |part: &str, error: Option<anyhow::Error>| {
            let error = format!("{:#}", error.expect("refused"));
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
        };
        refused("'b' is missing", read.tensor("b").err());
        refused("'games'", read.json::<u8>("games").err());
        let bytes = std::fs::read(&path)?;
        for length in [0, 7, 40, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..length])?;
            refused("no complete checkpoint", Checkpoint::read(&path).err());
        }
        std::fs::write(&path, safetensors::serialize(&read.tensors, None)?)?;
        refused("it says no step", Checkpoint::read(&path).err());
        Ok(())
    }

    #[test]
    fn each_difference_has_its_option_and_both_values() {
        let config = json!({
            "architecture": {"kind": "sparse", "accumulator": 256, "heads": 1},
            "sampling": {"anchors": 64, "mirror": true},
            "losses": {"margin": {"delta": 0.05, "delta_equal": 0.02}},
            "schedule": {"rule": "adamw", "learning_rate": 0.002, "steps": 9},
            "config": {"blocks": 3},
            "clip": null,
            "data": [{"name": "a.azd", "sha256": "12"}, {"name": "b.azd", "sha256": "34"}],
        });
        assert!(differences("", &config, &config).is_empty());
        for (pointer, value, expected) in [
            ("/architecture/accumulator", json!(512), "--accumulator 256 (now 512)"),
            ("/architecture", json!({"kind": "transformer"}), "--encoder sparse (now transformer)"),
            ("/sampling/mirror", json!(false), "--no-mirror false (now true)"),
            ("/losses/margin/delta_equal", json!(0.05), "--delta-equal 0.02 (now 0.05)"),
            ("/schedule/rule", json!("sgd"), "--optimizer adamw (now sgd)"),
            ("/schedule/learning_rate", json!(0.001), "--learning-rate 0.002 (now 0.001)"),
            ("/config/blocks", json!(4), "--size blocks 3 (now 4)"),
            ("/clip", json!(5.0), "--clip none (now 5.0)"),
            ("/data", json!([{"name": "a.azd", "sha256": "12"}]), "--data a.azd b.azd (now a.azd)"),
            ("/data/1/sha256", json!("56"), "--data a.azd b.azd (now with other content)"),
        ] {
            let mut other = config.clone();
            *other.pointer_mut(pointer).expect("it is there") = value;
            assert_eq!(differences("", &config, &other), [expected]);
        }
        let mut other = config.clone();
        other["from"] = json!({"name": "w.safetensors", "sha256": "78"});
        assert_eq!(differences("", &config, &other), ["--from none (now w.safetensors)"]);
        let mut changed = other.clone();
        changed["from"]["sha256"] = json!("9a");
        let content = "--from w.safetensors (now with other content)";
        assert_eq!(differences("", &other, &changed), [content]);
        assert_eq!(differences("", &other, &config), ["--from w.safetensors (now none)"]);
    }
}
