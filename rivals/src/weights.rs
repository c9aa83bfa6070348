//! A rival's weights file: a safetensors file with its parameters. Its metadata key `rival` holds
//! the rival's name, its sizes, which are checked, and the origin of the weights. The initial
//! parameters of a training run.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_network::checksum;
use azimuth_network::replace_file::replace_file;
use candle_core::safetensors::Load;
use candle_core::{DType, Device, Shape, Tensor, Var};
use candle_nn::init::NormalOrUniform;
use candle_nn::var_builder::SimpleBackend;
use candle_nn::{Init, VarBuilder, VarMap};
use rand::SeedableRng;
use rand::distr::{Distribution, Uniform};
use rand_distr::Normal;
use rand_xoshiro::Xoshiro256PlusPlus;
use safetensors::SafeTensors;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const METADATA_KEY: &str = "rival";

/// Upper bound on the size of a file; a larger file is not a weights file.
const LARGEST_FILE: u64 = 1 << 30;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Metadata {
    pub rival: String,
    pub config: Value,
    /// Data files with their hashes, steps, time, seed.
    pub training: Value,
    pub metrics: Value,
}

pub struct RivalWeights {
    pub metadata: Metadata,
    /// The parameters by name, on the CPU.
    pub tensors: HashMap<String, Tensor>,
}

impl RivalWeights {
    /// Reads the weights of `rival`. Fails with a one-line message that names the file and the
    /// expectation.
    pub fn read(path: &Path, rival: &str) -> Result<Self> {
        let name = || format!("weights file '{}'", path.display());
        let file = fs::metadata(path).with_context(name)?;
        ensure!(file.is_file(), "{}: not a regular file", name());
        ensure!(file.len() <= LARGEST_FILE, "{}: larger than 1 GiB", name());
        let bytes = fs::read(path).with_context(name)?;
        checksum::check(&bytes).with_context(name)?;
        Self::from_bytes(&bytes, rival).with_context(name)
    }

    /// The weights of `rival` from a file's bytes, without checking the checksum.
    pub fn from_bytes(bytes: &[u8], rival: &str) -> Result<Self> {
        let malformed = |error| anyhow!("not a complete safetensors file ({error})");
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(malformed)?;
        let text = header.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
        let text = text.context("not the weights of a rival: its metadata has no key 'rival'")?;
        let metadata: Metadata =
            serde_json::from_str(text).context("metadata key 'rival' is not readable")?;
        ensure!(
            metadata.rival == rival,
            "weights of the rival '{}', expected '{rival}'",
            metadata.rival
        );
        let file = SafeTensors::deserialize(bytes).map_err(malformed)?;
        let load = |(name, view): (String, safetensors::tensor::TensorView<'_>)| {
            Ok((name, view.load(&Device::Cpu)?))
        };
        let tensors = file.tensors().into_iter().map(load).collect::<Result<_>>()?;
        Ok(Self { metadata, tensors })
    }

    pub fn config<T: DeserializeOwned>(&self) -> Result<T> {
        check_sizes("metadata key 'rival.config':", &self.metadata.config)?;
        serde_json::from_value(self.metadata.config.clone()).context("metadata key 'rival.config'")
    }

    pub fn tensor(&self, name: &str) -> Result<&Tensor> {
        self.tensors.get(name).with_context(|| format!("tensor '{name}' is missing"))
    }

    /// The parameters as f32 on a device. A network takes them by name, and fails if a parameter is
    /// missing or has the wrong shape.
    pub fn parameters(&self, device: &Device) -> Result<VarBuilder<'static>> {
        let float =
            |(name, tensor): (&String, &Tensor)| Ok((name.clone(), tensor.to_dtype(DType::F32)?));
        let tensors = self.tensors.iter().map(float).collect::<Result<_>>()?;
        Ok(VarBuilder::from_tensors(tensors, DType::F32, device))
    }

    /// Writes the file atomically, with floats as bf16.
    pub fn write(&self, path: &Path) -> Result<()> {
        let small = |(name, tensor): (&String, &Tensor)| {
            let dtype = tensor.dtype();
            let stored = if dtype.is_float() { DType::BF16 } else { dtype };
            Ok((name.clone(), tensor.to_dtype(stored)?))
        };
        let tensors = self.tensors.iter().map(small).collect::<Result<Vec<_>>>()?;
        let metadata = [(METADATA_KEY, serde_json::to_string(&self.metadata)?)];
        replace_file(path, &checksum::to_bytes(tensors, metadata)?)
    }
}

/// Sizes that are accepted. The largest is above the sizes of all rivals, and small enough that the
/// product of two sizes does not overflow.
const SIZES: RangeInclusive<u64> = 1..=1 << 14;

/// Fails if a number in `sizes` is out of range. `name` is the option or metadata key, for the
/// error.
pub fn check_sizes(name: &str, sizes: &Value) -> Result<()> {
    match sizes {
        Value::Number(number) => {
            let is_size = number.as_u64().is_some_and(|number| SIZES.contains(&number));
            let (least, most) = SIZES.into_inner();
            ensure!(is_size, "{name} {number}: a size is {least} to {most}");
            Ok(())
        }
        Value::Array(values) => values.iter().try_for_each(|value| check_sizes(name, value)),
        Value::Object(values) => {
            values.iter().try_for_each(|(key, value)| check_sizes(&format!("{name} {key}"), value))
        }
        _ => Ok(()),
    }
}

/// The initial parameters of a run: candle's distributions, sampled with the run's seed, since
/// candle's CPU generator cannot be seeded. The builder creates parameters on `device` and stores
/// them in `parameters`. A parameter's initial value depends only on `seed` and its name, not on
/// the order of creation.
pub fn first_parameters(parameters: &VarMap, seed: u64, device: &Device) -> VarBuilder<'static> {
    let seeded = Seeded { parameters: parameters.clone(), seed };
    VarBuilder::from_backend(Box::new(seeded), DType::F32, device.clone())
}

struct Seeded {
    parameters: VarMap,
    seed: u64,
}

impl Seeded {
    /// The numbers of the parameter `name`, distributed as `init` says.
    fn draw(&self, shape: &Shape, name: &str, init: Init) -> candle_core::Result<Vec<f32>> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ hash(name));
        let count = shape.elem_count();
        match init {
            Init::Const(value) => Ok(vec![value as f32; count]),
            Init::Uniform { lo, up } => sampled(Uniform::new(lo, up), count, rng),
            Init::Randn { mean, stdev } => sampled(Normal::new(mean, stdev), count, rng),
            Init::Kaiming { dist, fan, non_linearity } => {
                let (gain, fan) = (non_linearity.gain(), fan.for_shape(shape) as f64);
                let bound = gain * (3.0 / fan).sqrt();
                match dist {
                    NormalOrUniform::Uniform => sampled(Uniform::new(-bound, bound), count, rng),
                    NormalOrUniform::Normal => {
                        sampled(Normal::new(0.0, gain / fan.sqrt()), count, rng)
                    }
                }
            }
        }
    }
}

fn sampled<E: std::error::Error + Send + Sync + 'static>(
    distribution: Result<impl Distribution<f64>, E>,
    count: usize,
    mut rng: Xoshiro256PlusPlus,
) -> candle_core::Result<Vec<f32>> {
    let distribution = distribution.map_err(candle_core::Error::wrap)?;
    Ok((0..count).map(|_| distribution.sample(&mut rng) as f32).collect())
}

/// FNV-1a, a hash that does not change between releases of the standard library.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl SimpleBackend for Seeded {
    fn get(
        &self,
        shape: Shape,
        name: &str,
        init: Init,
        dtype: DType,
        device: &Device,
    ) -> candle_core::Result<Tensor> {
        if !self.contains_tensor(name) {
            let values = self.draw(&shape, name, init)?;
            let tensor = Tensor::from_vec(values, &shape, device)?.to_dtype(dtype)?;
            let lost = |_| candle_core::Error::msg(LOST);
            let mut parameters = self.parameters.data().lock().map_err(lost)?;
            parameters.insert(name.to_owned(), Var::from_tensor(&tensor)?);
        }
        self.parameters.get(shape, name, init, dtype, device)
    }

    fn get_unchecked(&self, name: &str, _: DType, _: &Device) -> candle_core::Result<Tensor> {
        candle_core::bail!("parameter '{name}': a first parameter needs a shape")
    }

    fn contains_tensor(&self, name: &str) -> bool {
        self.parameters.data().lock().is_ok_and(|parameters| parameters.contains_key(name))
    }
}

/// The error after a panic of another thread.
const LOST: &str = "parameters are lost: another thread panicked";

/// The parameters of a run by name.
pub fn named(parameters: &VarMap) -> Result<BTreeMap<String, Var>> {
    let parameters = parameters.data().lock().map_err(|_| anyhow!(LOST))?;
    Ok(parameters.iter().map(|(name, variable)| (name.clone(), variable.clone())).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_of_others_and_cut_files_are_refused_in_one_line() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("w.safetensors");
        let metadata = Metadata {
            rival: "value".to_owned(),
            config: json!({"blocks": 3}),
            ..Metadata::default()
        };
        let tensors = [("bias".to_owned(), Tensor::new(&[0.5f32, -2.0], &Device::Cpu)?)].into();
        RivalWeights { metadata, tensors }.write(&path)?;
        let read = RivalWeights::read(&path, "value")?;
        assert_eq!(read.parameters(&Device::Cpu)?.get(2, "bias")?.to_vec1::<f32>()?, [0.5, -2.0]);
        assert!(read.parameters(&Device::Cpu)?.get(3, "bias").is_err());

        let refused = |path: &Path, part: &str| {
            let error = RivalWeights::read(path, "value").err().map(|error| format!("{error:#}"));
            let error = error.expect("refused");
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
        };
        refused(folder.path(), "not a regular file");
        refused(&folder.path().join("none"), "No such file");
        let bytes = fs::read(&path)?;
        for length in [0, 7, 40, bytes.len() - 1] {
            fs::write(&path, &bytes[..length])?;
            refused(&path, "not a complete safetensors file");
        }
        fs::write(&path, safetensors::serialize(&read.tensors, None)?)?;
        refused(&path, "not the weights of a rival");
        Ok(())
    }

    #[test]
    fn sizes_out_of_range_are_named() {
        let good = json!({"blocks": 1, "channels": [1, 16384], "squares": true});
        assert!(check_sizes("--size", &good).is_ok());
        for bad in [json!(0), json!(16385), json!(-1), json!(1.5), json!(u64::MAX)] {
            let error = check_sizes("--size", &json!({"channels": [8, bad]}));
            let error = error.expect_err("out of range").to_string();
            assert_eq!(error, format!("--size channels {bad}: a size is 1 to 16384"));
        }
    }

    fn drawn(seed: u64, name: &str, init: Init) -> Vec<f32> {
        let vb = first_parameters(&VarMap::new(), seed, &Device::Cpu);
        let tensor = vb.get_with_hints((64, 50), name, init).expect("a parameter");
        tensor.flatten_all().and_then(|flat| flat.to_vec1()).expect("numbers")
    }

    #[test]
    fn a_seed_and_a_name_say_all() {
        let init = Init::Randn { mean: 0.0, stdev: 1.0 };
        let first = drawn(1, "a", init);
        assert_eq!(first, drawn(1, "a", init));
        assert_ne!(first, drawn(2, "a", init));
        assert_ne!(first, drawn(1, "b", init));
    }

    #[test]
    fn numbers_are_distributed_as_asked() {
        // 3,200 numbers: means are within 4 standard errors, and deviations within 6%.
        let check = |init: Init, mean: f64, deviation: f64| {
            let values: Vec<f64> = drawn(1, "a", init).into_iter().map(f64::from).collect();
            let count = values.len() as f64;
            let found = values.iter().sum::<f64>() / count;
            let square = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / count;
            assert!((found - mean).abs() <= 4.0 * deviation / count.sqrt(), "{init:?}: {found}");
            assert!((square.sqrt() - deviation).abs() <= 0.06 * deviation, "{init:?}: {square}");
        };
        assert!(drawn(1, "a", Init::Const(0.3)).iter().all(|&value| value == 0.3));
        check(Init::Uniform { lo: -1.0, up: 3.0 }, 1.0, 4.0 / 12_f64.sqrt());
        check(Init::Randn { mean: 2.0, stdev: 0.5 }, 2.0, 0.5);
        // ReLU's gain over 50 inputs.
        check(candle_nn::init::DEFAULT_KAIMING_UNIFORM, 0.0, 0.2);
        check(candle_nn::init::DEFAULT_KAIMING_NORMAL, 0.0, 0.2);
    }
}
