//! A sparse encoder in training on a device, where every step updates all rows of the table.

use anyhow::{Result, bail};
use azimuth_network::Inputs;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use azimuth_network::sparse::{SparseConfig, SparseNetwork};
use candle_core::backprop::GradStore;
use candle_core::{Device, Tensor, Var};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::dense_table::DenseTable;
use super::readout::Readout;
use super::sparse_layers::SparseLayers;
use super::{EmbeddedBatch, Model};
use crate::beginning::{Beginning, TABLE};
use crate::optimizer::Step;
use crate::optimizer::dense::DenseOptimizer;
use crate::training::Checkpoint;

/// The name in a checkpoint of the shared parts of the table's rows.
const SHARED: &str = "features.shared";

/// A sparse encoder, its parameters and their optimiser.
pub struct SparseOnDevice {
    network: SparseNetwork,
    layers: SparseLayers,
    table: DenseTable,
    optimizer: DenseOptimizer,
}

impl SparseOnDevice {
    /// Parameters initialised from `seed`.
    pub fn new(config: &SparseConfig, device: &Device, seed: u64) -> Result<Self> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (layers, table) = SparseLayers::new(config, device, &mut rng, |draw| {
            DenseTable::new(config.features, config.accumulator, device, draw)
        })?;
        let of_table = [(TABLE, table.own()), (SHARED, table.shared())];
        let of_table = of_table.map(|(name, variable)| (name.to_owned(), variable.clone()));
        Ok(Self {
            network: SparseNetwork::new(config, &layers.with_table(table.own()))?,
            optimizer: DenseOptimizer::new(layers.variables().chain(of_table))?,
            layers,
            table,
        })
    }
}

impl Model for SparseOnDevice {
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

    fn forward(&self, _place: usize, inputs: Inputs, _seed: u64) -> Result<EmbeddedBatch<'_>> {
        let Inputs::Features(features) = inputs else { bail!("a sparse encoder reads features") };
        let sums = self.network.device_sums(&features, &self.table.folded()?)?;
        let activations: Tensor = Var::from_tensor(sums.activations())?.as_tensor().clone();
        let z = self.network.after_sums(&activations, &features)?;
        Ok(EmbeddedBatch::with_back(z, activations, move |slopes, gradients| {
            let (own, bias) = sums.backward(slopes, self.table.own().dim(0)?)?;
            gradients.insert(self.table.shared(), self.table.shared_gradient(&own)?);
            gradients.insert(self.table.own(), own);
            gradients.insert(self.layers.bias(), bias);
            Ok(())
        }))
    }

    fn step(&mut self, gradients: &GradStore, step: Step, clip: Option<f64>) -> Result<()> {
        let step = step.clipped(clip, || self.optimizer.squared_gradient(gradients))?;
        self.optimizer.step(gradients, step)
    }

    fn parameters(&self) -> Result<Parameters> {
        self.layers.playing(&self.table.folded()?)
    }

    fn values_at_limit(&self, parameters: &Parameters) -> Result<usize> {
        self.layers.values_at_limit(parameters)
    }

    fn state(&self) -> Result<Vec<(String, Tensor)>> {
        Ok(self.optimizer.state().collect())
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.optimizer.restore(checkpoint)
    }
}
