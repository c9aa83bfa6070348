//! A transformer's parameters flattened into one tensor, so that an optimiser step needs only a few
//! operations. On a device, launching a few operations for each parameter takes longer than
//! computing them.

use std::collections::HashMap;

use anyhow::{Context, Result};
use azimuth_network::parameters::{ParameterSpec, Parameters};
use candle_core::{DType, Device, Tensor, Var};

/// Parameters in f32 (the master weights), and in the network's precision.
pub struct FlatParameters {
    specs: Vec<ParameterSpec>,
    master: Var,
    /// A 16-bit copy of the master; `None` if the network computes in f32.
    working: Option<Var>,
}

impl FlatParameters {
    /// `values` has the parameters `specs` one after another; the network computes in `dtype`.
    pub fn new(
        specs: Vec<ParameterSpec>,
        values: Vec<f32>,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let count = values.len();
        let master = Var::from_vec(values, count, device)?;
        let working = match dtype {
            DType::F32 => None,
            _ => Some(Var::from_tensor(&master.to_dtype(dtype)?)?),
        };
        Ok(Self { specs, master, working })
    }

    /// The parameters' names and shapes, in the order of the master.
    pub fn specs(&self) -> &[ParameterSpec] {
        &self.specs
    }

    /// The variable that the optimiser updates.
    pub fn master(&self) -> &Var {
        &self.master
    }

    /// Views of the parameters in f32, which follow every update.
    pub fn parameters(&self) -> Result<Parameters> {
        self.parts_of(&self.master)
    }

    /// Views of the parameters in the network's precision, which follow every refresh.
    pub fn working_parameters(&self) -> Result<Parameters> {
        self.parts_of(self.working.as_ref().unwrap_or(&self.master))
    }

    fn parts_of(&self, all: &Var) -> Result<Parameters> {
        let all = all.as_detached_tensor();
        let mut first = 0;
        let parts = self.specs.iter().map(|spec| {
            let count = spec.shape.iter().product();
            let part = all.narrow(0, first, count)?.reshape(spec.shape.as_slice())?;
            first += count;
            Ok((spec.name.clone(), part))
        });
        Ok(Parameters::new(parts.collect::<Result<Vec<_>>>()?))
    }

    /// The gradients of all parameters in the order of the master, f32.
    pub fn flatten(&self, mut gradients: HashMap<String, Tensor>) -> Result<Tensor> {
        let parts = self.specs.iter().map(|spec| {
            let gradient = gradients.remove(&spec.name);
            let gradient = gradient.with_context(|| format!("no gradient of '{}'", spec.name))?;
            Ok(gradient.flatten_all()?)
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        Ok(Tensor::cat(&parts, 0)?.to_dtype(DType::F32)?)
    }

    /// Copies the master to the network's precision after an update.
    pub fn refresh(&self) -> Result<()> {
        if let Some(working) = &self.working {
            working.set(&self.master.as_detached_tensor().to_dtype(working.dtype())?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use azimuth_network::parameters::Init;

    use super::*;

    #[test]
    fn parts_follow_the_master_and_gradients_its_order() -> Result<()> {
        let spec =
            |name: &str, shape: &[usize]| ParameterSpec::new(name, shape, Init::Constant(0.0));
        let specs = vec![spec("b", &[2, 3]), spec("a", &[2])];
        let values: Vec<f32> = (0..8).map(|i| i as f32).collect();
        let flat = FlatParameters::new(specs, values, &Device::Cpu, DType::BF16)?;
        let (exact, working) = (flat.parameters()?, flat.working_parameters()?);
        assert_eq!(exact.get("b")?.to_vec2::<f32>()?, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
        assert_eq!(working.values("a")?, [6.0, 7.0]);

        let moved = (flat.master().as_detached_tensor() + 1.001)?;
        flat.master().set(&moved)?;
        flat.refresh()?;
        assert_eq!(exact.values("a")?, [7.001, 8.001]);
        assert_eq!(working.values("a")?, [7.0, 8.0]);

        let gradients = [("a", vec![1f32, 2.0], vec![2]), ("b", vec![3f32; 6], vec![2, 3])];
        let gradients = gradients.into_iter().map(|(name, values, shape)| {
            Ok((name.to_owned(), Tensor::from_vec(values, shape, &Device::Cpu)?))
        });
        let joined = flat.flatten(gradients.collect::<Result<_>>()?)?;
        assert_eq!(joined.to_vec1::<f32>()?, [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 1.0, 2.0]);
        assert!(flat.flatten(HashMap::new()).is_err());
        Ok(())
    }
}
