//! A transformer in training. One flat tensor holds all of its parameters, with a copy in the
//! network's precision.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use azimuth_network::Inputs;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use azimuth_network::transformer::{Dropout, Transformer, TransformerConfig, token_ids};
use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Tensor, Var};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{EmbeddedBatch, Model, Readout, copied, draw};
use crate::beginning::Beginning;
use crate::optimizer::{DenseOptimizer, Step};
use crate::training::Checkpoint;

/// The name in a checkpoint of the flat tensor of parameters.
const PARAMETERS: &str = "parameters";

pub struct TransformerModel {
    network: Transformer,
    /// The parameters' names and shapes, in the order of the master.
    specs: Vec<ParameterSpec>,
    /// All parameters one after another, f32: the variable that the optimiser updates.
    master: Var,
    /// A 16-bit copy of the master; `None` if the network computes in f32.
    working: Option<Var>,
    readout: Readout,
    optimizer: DenseOptimizer,
    dropout: f32,
}

impl TransformerModel {
    /// Parameters initialised from `seed`; the network computes in `dtype`.
    pub fn new(
        config: &TransformerConfig,
        device: &Device,
        dtype: DType,
        dropout: f32,
        seed: u64,
    ) -> Result<Self> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let specs = config.parameters();
        let mut values = Vec::new();
        for spec in &specs {
            values.extend(draw(spec.init, spec.shape.iter().product(), &mut rng)?);
        }
        let count = values.len();
        let master = Var::from_vec(values, count, device)?;
        let working = match dtype {
            DType::F32 => None,
            _ => Some(Var::from_tensor(&master.to_dtype(dtype)?)?),
        };
        let readout = Readout::new(config.embedding_dim, device, &mut rng)?;
        let own = [(PARAMETERS.to_owned(), master.clone())];
        let parameters = parameters_in(working.as_ref().unwrap_or(&master), &specs)?;
        Ok(Self {
            network: Transformer::new(config, &parameters)?,
            optimizer: DenseOptimizer::new(own.into_iter().chain(readout.variables()))?,
            specs,
            master,
            working,
            readout,
            dropout,
        })
    }

    /// The gradients of all parameters in the order of the master, f32.
    fn flatten(&self, mut gradients: HashMap<String, Tensor>) -> Result<Tensor> {
        let parts = self.specs.iter().map(|spec| {
            let gradient = gradients.remove(&spec.name);
            let gradient = gradient.with_context(|| format!("no gradient of '{}'", spec.name))?;
            Ok(gradient.flatten_all()?)
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        Ok(Tensor::cat(&parts, 0)?.to_dtype(DType::F32)?)
    }

    /// Copies the master to the network's precision after an update.
    fn refresh(&self) -> Result<()> {
        if let Some(working) = &self.working {
            working.set(&self.master.as_detached_tensor().to_dtype(working.dtype())?)?;
        }
        Ok(())
    }
}

impl Model for TransformerModel {
    fn optimizer(&self) -> &DenseOptimizer {
        &self.optimizer
    }

    fn readout(&self) -> &Readout {
        &self.readout
    }

    fn begin(&mut self, beginning: &Beginning) -> Result<()> {
        let tensors = self.specs.iter().map(|spec| {
            let tensor = beginning.parameters.get(&spec.name)?.to_dtype(DType::F32)?;
            Ok((spec.name.clone(), tensor.to_device(self.master.device())?))
        });
        let tensors = tensors.collect::<Result<HashMap<_, _>>>()?;
        self.master.set(&self.flatten(tensors)?)?;
        self.refresh()?;
        self.readout.begin(beginning)
    }

    fn forward(&self, _place: usize, inputs: Inputs, seed: u64) -> Result<EmbeddedBatch<'_>> {
        let Inputs::Tokens(tokens) = inputs else { bail!("a transformer reads tokens") };
        let ids = token_ids(&tokens, self.master.device())?;
        let trace = self.network.forward_traced(&ids, Dropout::new(self.dropout, seed))?;
        let z: Tensor = Var::from_tensor(&trace.z)?.as_tensor().clone();
        let back = |slopes: &Tensor, gradients: &mut GradStore| -> Result<()> {
            let found = self.flatten(self.network.backward(trace, slopes)?)?;
            gradients.insert(&self.master, found);
            Ok(())
        };
        Ok(EmbeddedBatch { z: z.clone(), back: Some((z, Box::new(back))) })
    }

    fn step(&mut self, gradients: &GradStore, step: Step, clip: Option<f64>) -> Result<()> {
        let step = step.clipped(clip, || self.optimizer.squared_gradient(gradients))?;
        self.optimizer.step(gradients, step)?;
        self.refresh()
    }

    fn parameters(&self) -> Result<Parameters> {
        let parameters = parameters_in(&self.master, &self.specs)?;
        copied(parameters.iter().map(|(name, tensor)| (name.clone(), tensor.clone())))
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.optimizer.restore(checkpoint)?;
        self.refresh()
    }
}

/// Views of the parameters in a master or in its copy, which follow every update.
fn parameters_in(all: &Var, specs: &[ParameterSpec]) -> Result<Parameters> {
    let all = all.as_detached_tensor();
    let mut first = 0;
    let parts = specs.iter().map(|spec| {
        let count = spec.shape.iter().product();
        let part = all.narrow(0, first, count)?.reshape(spec.shape.as_slice())?;
        first += count;
        Ok((spec.name.clone(), part))
    });
    Ok(Parameters::new(parts.collect::<Result<Vec<_>>>()?))
}

#[cfg(test)]
mod tests {
    use azimuth_network::InputKind;
    use cozy_chess::Board;

    use super::*;
    use crate::options::TrainOptions;

    /// Trains towards the first axis, and returns the mean squared distance of all embeddings.
    fn taught(dtype: DType) -> Result<(f32, TransformerModel)> {
        let config =
            TransformerConfig { layers: 1, hidden: 16, heads: 1, mlp: 16, embedding_dim: 8 };
        let mut model = TransformerModel::new(&config, &Device::Cpu, dtype, 0.1, 3)?;
        let boards: Vec<Board> = (0..8).map(|n| Board::chess960_startpos(n * 100)).collect();
        let inputs = Inputs::of(InputKind::Tokens, &boards);
        let options = "--steps 40 --optimizer sgd --learning-rate 0.01";
        let schedule = TrainOptions::with_options(options)?.config()?.schedule;
        // A variable, as the read-out is, so that the gradient of the embeddings depends on one.
        let target = Var::new(&[1f32, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &Device::Cpu)?;
        let mut distance = f32::NAN;
        for step in 0..schedule.steps {
            let embedded = model.forward(0, inputs.clone(), step)?;
            let cosines = embedded.z.broadcast_mul(&target)?.sum(1)?;
            let loss = (cosines.affine(-2.0, 2.0)?.mean_all()? / config.embedding_dim as f64)?;
            distance = loss.to_scalar()?;
            let gradients = embedded.backward(&loss)?;
            let found = gradients.get(&model.master).context("no gradient")?;
            assert!(!found.track_op(), "the gradient keeps the forward pass in memory");
            model.step(&gradients, schedule.step(step), None)?;
        }
        Ok((distance, model))
    }

    #[test]
    fn a_network_in_16_bits_learns_as_in_32() -> Result<()> {
        let (exact, _) = taught(DType::F32)?;
        let (coarse, model) = taught(DType::BF16)?;
        assert!((exact - coarse).abs() < 0.1 * exact, "{exact} in f32, {coarse} in bf16");
        assert!(exact < 0.1, "{exact}: nothing was learnt");
        // Updates are finer than the network's precision.
        let weights = model.parameters()?.get("projection.weight")?;
        let rounded = weights.to_dtype(DType::BF16)?.to_dtype(DType::F32)?;
        let lost = (weights - rounded)?.abs()?.max_all()?.to_scalar::<f32>()?;
        assert!(lost > 0.0);
        Ok(())
    }
}
