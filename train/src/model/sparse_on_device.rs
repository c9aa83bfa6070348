//! A sparse encoder in training on a device, where every step updates all rows of the table; the
//! table as dense tensors.

use anyhow::{Result, bail};
use azimuth_network::Inputs;
use azimuth_network::parameters::Parameters;
use azimuth_network::sparse::features::{FeatureSet, PIECE_SQUARES};
use azimuth_network::sparse::{SparseConfig, SparseNetwork};
use azimuth_search::encoder::sparse::largest_playable_value;
use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Tensor, Var};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::sparse::SparseLayers;
use super::{EmbeddedBatch, Model, Readout};
use crate::beginning::{Beginning, TABLE};
use crate::optimizer::{DenseOptimizer, Step};
use crate::training::Checkpoint;

/// The name in a checkpoint of the shared parts of the table's rows.
const SHARED: &str = "features.shared";

pub struct SparseOnDevice {
    network: SparseNetwork,
    layers: SparseLayers,
    table: DenseTable,
    optimizer: DenseOptimizer,
}

impl SparseOnDevice {
    pub fn new(config: &SparseConfig, device: &Device, seed: u64) -> Result<Self> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (layers, table) = SparseLayers::new(config, device, &mut rng, |draw| {
            DenseTable::new(config.features, config.accumulator, device, draw)
        })?;
        let of_table = [(TABLE, &table.own), (SHARED, &table.shared)];
        let of_table = of_table.map(|(name, variable)| (name.to_owned(), variable.clone()));
        Ok(Self {
            network: SparseNetwork::new(config, &layers.with_table(&table.own))?,
            optimizer: DenseOptimizer::new(layers.variables().chain(of_table))?,
            layers,
            table,
        })
    }
}

impl Model for SparseOnDevice {
    fn optimizer(&self) -> &DenseOptimizer {
        &self.optimizer
    }

    fn readout(&self) -> &Readout {
        &self.layers.readout
    }

    fn begin(&mut self, beginning: &Beginning) -> Result<()> {
        self.layers.begin(beginning, |rows| self.table.begin(rows))
    }

    fn forward(&self, _place: usize, inputs: Inputs, _seed: u64) -> Result<EmbeddedBatch<'_>> {
        let Inputs::Features(features) = inputs else { bail!("a sparse encoder reads features") };
        let sums = self.network.device_sums(&features, &self.table.folded()?)?;
        let activations: Tensor = Var::from_tensor(sums.activations())?.as_tensor().clone();
        let z = self.network.after_sums(&activations, &features)?;
        let back = move |slopes: &Tensor, gradients: &mut GradStore| -> Result<()> {
            let (own, bias) = sums.backward(slopes, self.table.own.dim(0)?)?;
            gradients.insert(&self.table.shared, self.table.shared_gradient(&own)?);
            gradients.insert(&self.table.own, own);
            gradients.insert(self.layers.bias(), bias);
            Ok(())
        };
        Ok(EmbeddedBatch { z, back: Some((activations, Box::new(back))) })
    }

    fn step(&mut self, gradients: &GradStore, step: Step, clip: Option<f64>) -> Result<()> {
        let step = step.clipped(clip, || self.optimizer.squared_gradient(gradients))?;
        self.optimizer.step(gradients, step)
    }

    fn parameters(&self) -> Result<Parameters> {
        self.layers.playing(&self.table.folded()?)
    }

    fn state(&self) -> Result<Vec<(String, Tensor)>> {
        Ok(self.optimizer.state().collect())
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.optimizer.restore(checkpoint)
    }
}

/// The rows' own values and the shared parts of a table.
struct DenseTable {
    set: FeatureSet,
    /// The rows' own values (rows x H).
    own: Var,
    /// The shared parts (parts x H).
    shared: Var,
}

impl DenseTable {
    /// Initialises the shared parts of pieces on squares with `draw`, which returns the requested
    /// number of values, and everything else with zeros.
    fn new(
        set: FeatureSet,
        width: usize,
        device: &Device,
        draw: impl FnOnce(usize) -> Result<Vec<f32>>,
    ) -> Result<Self> {
        let drawn = Tensor::from_vec(draw(PIECE_SQUARES * width)?, (PIECE_SQUARES, width), device)?;
        let more = set.shared_rows() - PIECE_SQUARES;
        let rest = Tensor::zeros((more, width), DType::F32, device)?;
        let shared = Var::from_tensor(&Tensor::cat(&[&drawn, &rest], 0)?)?;
        Ok(Self { set, own: Var::zeros((set.rows(), width), DType::F32, device)?, shared })
    }

    /// Sets the rows' own values to `rows` (rows x H), and the shared parts to zero.
    fn begin(&self, rows: &Tensor) -> Result<()> {
        self.own.set(rows)?;
        Ok(self.shared.set(&self.shared.zeros_like()?)?)
    }

    /// The table of the network: the sums, clamped to the largest value that play can quantise.
    fn folded(&self) -> Result<Tensor> {
        let (own, shared) = (self.own.as_detached_tensor(), self.shared.as_detached_tensor());
        let (mut pieces, rest) = self.pieces_and_rest(&own)?;
        let shape = pieces.shape().clone();
        for (first, period) in self.shared_parts() {
            let by_part = pieces.reshape(((), period, shape.dims()[1]))?;
            pieces = by_part.broadcast_add(&shared.narrow(0, first, period)?)?.reshape(&shape)?;
        }
        let largest = (0..self.set.rows()).map(|row| largest_playable_value(self.set, row));
        let largest = Tensor::from_iter(largest, own.device())?.unsqueeze(1)?;
        let table = Tensor::cat(&[&pieces, &rest], 0)?;
        Ok(table.broadcast_minimum(&largest)?.broadcast_maximum(&largest.neg()?)?)
    }

    /// The gradient of the shared parts, given that of the table, which is also the gradient of the
    /// rows' own values. The clamping does not stop either gradient.
    fn shared_gradient(&self, gradient: &Tensor) -> Result<Tensor> {
        let (pieces, _) = self.pieces_and_rest(gradient)?;
        let parts = self.shared_parts();
        let sums = parts.map(|(_, period)| pieces.reshape(((), period, pieces.dim(1)?))?.sum(0));
        Ok(Tensor::cat(&sums.collect::<candle_core::Result<Vec<_>>>()?, 0)?)
    }

    /// The first index and the number of the shared parts of each kind. Rows share a part if their
    /// indices differ by a multiple of this number.
    fn shared_parts(&self) -> impl Iterator<Item = (usize, usize)> {
        let more = self.set.shared_rows() - PIECE_SQUARES;
        [(0, PIECE_SQUARES), (PIECE_SQUARES, more)].into_iter().filter(|&(_, period)| period > 0)
    }

    /// Splits a table into the rows of pieces on squares, which share parts, and the other rows.
    fn pieces_and_rest(&self, table: &Tensor) -> Result<(Tensor, Tensor)> {
        let pieces = self.set.variants() * PIECE_SQUARES;
        let rest = table.dim(0)? - pieces;
        Ok((table.narrow(0, 0, pieces)?, table.narrow(0, pieces, rest)?))
    }
}
