//! A sparse encoder in training on the CPU, where a step updates only the rows of the table that
//! its batch uses; the layers after the table, which are the same on a device.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use azimuth_network::Inputs;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use azimuth_network::sparse::{SparseConfig, SparseNetwork};
use azimuth_search::encoder::sparse::largest_playable_value;
use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Tensor, Var};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{EmbeddedBatch, Model, Readout, copied, draw, variable};
use crate::beginning::{Beginning, TABLE};
use crate::data::sampler::Batch;
use crate::optimizer::rows::FactoredTable;
use crate::optimizer::{DenseOptimizer, Step};
use crate::ranks::Ranks;
use crate::training::Checkpoint;

pub struct Sparse {
    network: SparseNetwork,
    layers: SparseLayers,
    table: FactoredTable,
    optimizer: DenseOptimizer,
}

impl Sparse {
    /// Parameters initialised from `seed`; batches come in `parts`.
    pub fn new(config: &SparseConfig, parts: usize, seed: u64) -> Result<Self> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (layers, table) = SparseLayers::new(config, &Device::Cpu, &mut rng, |draw| {
            FactoredTable::new(config.features, config.accumulator, parts, draw)
        })?;
        Ok(Self {
            network: SparseNetwork::new(config, &layers.with_table(table.table()))?,
            optimizer: DenseOptimizer::new(layers.variables())?,
            layers,
            table,
        })
    }
}

impl Model for Sparse {
    fn optimizer(&self) -> &DenseOptimizer {
        &self.optimizer
    }

    fn readout(&self) -> &Readout {
        &self.layers.readout
    }

    fn begin(&mut self, beginning: &Beginning) -> Result<()> {
        self.layers.begin(beginning, |rows| self.table.begin(rows))
    }

    fn prepare(&self, batch: &Batch) -> Result<()> {
        self.table.prepare(batch.parts.iter().filter_map(|part| part.inputs.features()))
    }

    fn forward(&self, place: usize, inputs: Inputs, _seed: u64) -> Result<EmbeddedBatch<'_>> {
        let Inputs::Features(features) = inputs else { bail!("a sparse encoder reads features") };
        let sink = Some(self.table.sink(place));
        Ok(EmbeddedBatch { z: self.network.forward(&features, sink)?, back: None })
    }

    fn sum_rows(&self, ranks: &dyn Ranks) -> Result<()> {
        self.table.sum(ranks)
    }

    fn step(&mut self, gradients: &GradStore, step: Step, clip: Option<f64>) -> Result<()> {
        let step = step.clipped(clip, || {
            Ok(self.optimizer.squared_gradient(gradients)? + self.table.squared_gradient())
        })?;
        self.optimizer.step(gradients, step)?;
        self.table.step(step);
        Ok(())
    }

    fn parameters(&self) -> Result<Parameters> {
        self.layers.playing(&self.table.whole()?)
    }

    fn state(&self) -> Result<Vec<(String, Tensor)>> {
        Ok(self.optimizer.state().chain(self.table.state()?).collect())
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.optimizer.restore(checkpoint)?;
        self.table.restore(checkpoint)
    }
}

const FEATURE_BIAS: &str = "features.bias";

/// The bias of the feature sums, the layers after them, and the read-out.
pub struct SparseLayers {
    specs: Vec<ParameterSpec>,
    /// The largest magnitude of a bias that play can quantise.
    largest_bias: f32,
    variables: BTreeMap<String, Var>,
    pub readout: Readout,
}

impl SparseLayers {
    /// Initialises the table, by `table` from random values that it requests, then everything else.
    pub fn new<T>(
        config: &SparseConfig,
        device: &Device,
        rng: &mut Xoshiro256PlusPlus,
        table: impl FnOnce(&mut dyn FnMut(usize) -> Result<Vec<f32>>) -> Result<T>,
    ) -> Result<(Self, T)> {
        let specs = config.parameters();
        let of_table = specs.iter().find(|spec| spec.name == TABLE);
        let init = of_table.with_context(|| format!("no parameter '{TABLE}'"))?.init;
        let table = table(&mut |count| draw(init, count, rng))?;
        let mut variables = BTreeMap::new();
        for spec in specs.iter().filter(|spec| spec.name != TABLE) {
            variables.insert(spec.name.clone(), variable(spec, device, rng)?);
        }
        let readout = Readout::new(config.embedding_dim, device, rng)?;
        let largest_bias = largest_playable_value(config.features, 0);
        Ok((Self { specs, largest_bias, variables, readout }, table))
    }

    pub fn bias(&self) -> &Var {
        &self.variables[FEATURE_BIAS]
    }

    /// All variables with their names in a checkpoint.
    pub fn variables(&self) -> impl Iterator<Item = (String, Var)> {
        let own = self.variables.iter().map(|(name, variable)| (name.clone(), variable.clone()));
        own.chain(self.readout.variables())
    }

    /// The network's parameters, including `table`.
    pub fn with_table(&self, table: &Tensor) -> Parameters {
        let own = self.variables.iter();
        let own = own.map(|(name, variable)| (name.clone(), variable.as_tensor().clone()));
        Parameters::new(own.chain([(TABLE.to_owned(), table.clone())]))
    }

    /// Sets the parameters to those of `beginning`; the table is passed to `table`.
    pub fn begin(
        &self,
        beginning: &Beginning,
        table: impl FnOnce(&Tensor) -> Result<()>,
    ) -> Result<()> {
        let device = self.bias().device();
        let given = |name: &str| -> Result<Tensor> {
            let tensor = beginning.parameters.get(name)?.to_dtype(DType::F32)?;
            Ok(tensor.to_device(device)?)
        };
        table(&given(TABLE)?)?;
        for (name, variable) in &self.variables {
            variable.set(&given(name)?)?;
        }
        self.readout.begin(beginning)
    }

    /// The parameters for play, including `table`.
    pub fn playing(&self, table: &Tensor) -> Result<Parameters> {
        let bias = self.bias().clamp(-self.largest_bias, self.largest_bias)?;
        copied(self.specs.iter().map(|spec| {
            let tensor = match spec.name.as_str() {
                TABLE => table,
                FEATURE_BIAS => &bias,
                name => self.variables[name].as_tensor(),
            };
            Ok((spec.name.clone(), tensor.clone()))
        }))
    }
}
