//! The named tensors of an encoder: names, shapes and initial distributions.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use candle_core::{CpuStorage, DType, Device, Storage, Tensor};

/// Distribution of a parameter before training (PyTorch's defaults for the same layers).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// The same value everywhere.
    Constant(f32),
    /// Normal around 0 with this standard deviation.
    Normal(f32),
    /// Uniform in ± this bound.
    Uniform(f32),
}

/// One parameter of an architecture.
#[derive(Clone, Debug)]
pub struct ParameterSpec {
    /// Its key in the weights file.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Initial distribution.
    pub init: Init,
}

impl ParameterSpec {
    /// A parameter with a name, a shape and an initial distribution.
    pub fn new(name: impl Into<String>, shape: &[usize], init: Init) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), init }
    }
}

/// Weight (`out` x `in`) and bias of `nn.Linear`, uniform in ± 1 / sqrt(in).
pub fn linear(name: &str, inputs: usize, outputs: usize) -> [ParameterSpec; 2] {
    let bound = 1.0 / (inputs as f32).sqrt();
    [
        ParameterSpec::new(format!("{name}.weight"), &[outputs, inputs], Init::Uniform(bound)),
        ParameterSpec::new(format!("{name}.bias"), &[outputs], Init::Uniform(bound)),
    ]
}

/// The parameters of one encoder by name.
#[derive(Clone, Debug, Default)]
pub struct Parameters(HashMap<String, Tensor>);

impl Parameters {
    /// Collects named tensors.
    pub fn new(tensors: impl IntoIterator<Item = (String, Tensor)>) -> Self {
        Self(tensors.into_iter().collect())
    }

    /// The parameter `name`. Fails where it is missing.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        self.0.get(name).cloned().with_context(|| format!("parameter '{name}' is missing"))
    }

    /// Weight and bias under `name`.
    pub fn linear(&self, name: &str) -> Result<candle_nn::Linear> {
        let weight = self.get(&format!("{name}.weight"))?;
        Ok(candle_nn::Linear::new(weight, Some(self.get(&format!("{name}.bias"))?)))
    }

    /// The parameter `name` as a flat row-major vector.
    pub fn values(&self, name: &str) -> Result<Vec<f32>> {
        self.read_values(name, <[f32]>::to_vec)
    }

    /// Reads the values of the parameter `name`, in row-major order. On the CPU and in `f32` they
    /// are not copied: the largest tables have 100 MB.
    pub fn read_values<T>(&self, name: &str, read: impl FnOnce(&[f32]) -> T) -> Result<T> {
        let values = self.get(name)?.flatten_all()?.to_dtype(DType::F32)?;
        let (storage, layout) = values.storage_and_layout();
        if let Storage::Cpu(CpuStorage::F32(stored)) = &*storage
            && let Some((start, end)) = layout.contiguous_offsets()
        {
            return Ok(read(&stored[start..end]));
        }
        drop(storage);
        Ok(read(&values.to_vec1()?))
    }

    /// The same parameters on another device and in another precision.
    pub fn to(&self, device: &Device, dtype: DType) -> Result<Self> {
        let moved = self
            .0
            .iter()
            .map(|(name, tensor)| Ok((name.clone(), tensor.to_device(device)?.to_dtype(dtype)?)));
        Ok(Self(moved.collect::<Result<_>>()?))
    }

    /// Checks that every parameter of `specs` exists with its shape and holds finite numbers.
    pub fn check(&self, specs: &[ParameterSpec]) -> Result<()> {
        self.check_shapes(specs)?;
        for spec in specs {
            let all_finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
            let finite = self.read_values(&spec.name, all_finite)?;
            ensure!(finite, "parameter '{}' holds a value that is not finite", spec.name);
        }
        Ok(())
    }

    /// Checks that every parameter of `specs` exists with its shape.
    pub fn check_shapes(&self, specs: &[ParameterSpec]) -> Result<()> {
        for spec in specs {
            let tensor = self.get(&spec.name)?;
            ensure!(
                tensor.dims() == spec.shape,
                "parameter '{}' has shape {:?}, expected {:?}",
                spec.name,
                tensor.dims(),
                spec.shape
            );
        }
        Ok(())
    }

    /// All tensors with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Tensor)> {
        self.0.iter()
    }
}
