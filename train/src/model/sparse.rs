//! A sparse encoder in training on the CPU, where a step updates only the rows of the table that
//! its batch uses.

use anyhow::{Result, bail};
use azimuth_network::Inputs;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use azimuth_network::sparse::{SparseConfig, SparseNetwork};
use candle_core::backprop::GradStore;
use candle_core::{Device, Tensor};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::readout::Readout;
use super::sparse_layers::SparseLayers;
use super::{EmbeddedBatch, Model};
use crate::beginning::Beginning;
use crate::data::sampler::Batch;
use crate::optimizer::Step;
use crate::optimizer::dense::DenseOptimizer;
use crate::optimizer::rows::FactoredTable;
use crate::ranks::Ranks;
use crate::training::Checkpoint;

/// A sparse encoder, its parameters and their optimisers.
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
    fn specs(&self) -> &[ParameterSpec] {
        self.layers.specs()
    }

    fn optimizer(&self) -> &DenseOptimizer {
        &self.optimizer
    }

    fn readout(&self) -> &Readout {
        self.layers.readout()
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
        Ok(EmbeddedBatch::new(self.network.forward(&features, sink)?))
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

    fn values_at_limit(&self, parameters: &Parameters) -> Result<usize> {
        self.layers.values_at_limit(parameters)
    }

    fn state(&self) -> Result<Vec<(String, Tensor)>> {
        Ok(self.optimizer.state().chain(self.table.state()?).collect())
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.optimizer.restore(checkpoint)?;
        self.table.restore(checkpoint)
    }
}
