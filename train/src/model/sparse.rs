//! A sparse encoder in training: on the CPU, where a step updates only the rows of the table that its
//! batch uses, and on a device, where it updates all rows. The layers after the table are the same.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use azimuth_network::Inputs;
use azimuth_network::parameters::{ParameterSpec, Parameters};
use azimuth_network::sparse::features::{FeatureSet, PIECE_SQUARES};
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

const FEATURE_BIAS: &str = "features.bias";

/// A sparse encoder in training.
pub struct Sparse {
    network: SparseNetwork,
    specs: Vec<ParameterSpec>,
    table: Table,
    /// The bias of the feature sums, and the layers after them.
    variables: BTreeMap<String, Var>,
    /// The largest magnitude of a bias that play can quantise.
    largest_bias: f32,
    readout: Readout,
    optimizer: DenseOptimizer,
}

/// The feature table in training.
enum Table {
    /// On the CPU: a step updates only some rows.
    Rows(FactoredTable),
    /// On a device: the optimiser of the layers updates all rows.
    Dense(DenseTable),
}

impl Table {
    fn rows(&self) -> Option<&FactoredTable> {
        match self {
            Self::Rows(table) => Some(table),
            Self::Dense(_) => None,
        }
    }
}

impl Sparse {
    /// An encoder with parameters initialised from `seed`. On the CPU, a step updates only the rows
    /// that the `parts` of its batch use; without `parts`, it updates all rows.
    pub fn new(
        config: &SparseConfig,
        device: &Device,
        parts: Option<usize>,
        seed: u64,
    ) -> Result<Self> {
        let SparseConfig { features, accumulator, .. } = *config;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let specs = config.parameters();
        // The parts that pieces on squares share have the initial values of the table.
        let of_table = specs.iter().find(|spec| spec.name == TABLE);
        let init = of_table.with_context(|| format!("no parameter '{TABLE}'"))?.init;
        let drawn = draw(init, PIECE_SQUARES * accumulator, &mut rng)?;
        let table = match parts {
            Some(parts) => Table::Rows(FactoredTable::new(features, accumulator, parts, drawn)?),
            None => Table::Dense(DenseTable::new(features, accumulator, device, drawn)?),
        };
        let mut variables = BTreeMap::new();
        for spec in specs.iter().filter(|spec| spec.name != TABLE) {
            variables.insert(spec.name.clone(), variable(spec, device, &mut rng)?);
        }
        let readout = Readout::new(config.embedding_dim, device, &mut rng)?;
        let (rows, of_table) = match &table {
            Table::Rows(table) => (table.table(), Vec::new()),
            Table::Dense(table) => (table.own.as_tensor(), table.variables()),
        };
        let optimised = variables.clone().into_iter().chain(readout.variables()).chain(of_table);
        let others = variables.iter().map(|(name, own)| (name.clone(), own.as_tensor().clone()));
        let parameters = Parameters::new(others.chain([(TABLE.to_owned(), rows.clone())]));
        Ok(Self {
            network: SparseNetwork::new(config, &parameters)?,
            optimizer: DenseOptimizer::new(optimised)?,
            largest_bias: largest_playable_value(features, 0),
            specs,
            table,
            variables,
            readout,
        })
    }
}

impl Model for Sparse {
    fn optimizer(&self) -> &DenseOptimizer {
        &self.optimizer
    }

    fn readout(&self) -> &Readout {
        &self.readout
    }

    fn begin(&mut self, beginning: &Beginning) -> Result<()> {
        for (name, variable) in &self.variables {
            let tensor = beginning.parameters.get(name)?.to_dtype(DType::F32)?;
            variable.set(&tensor.to_device(variable.device())?)?;
        }
        self.readout.begin(beginning)?;
        let rows = beginning.parameters.get(TABLE)?.to_dtype(DType::F32)?;
        match &mut self.table {
            Table::Rows(table) => table.begin(&rows),
            Table::Dense(table) => table.begin(&rows),
        }
    }

    fn prepare(&self, batch: &Batch) -> Result<()> {
        let parts = batch.parts.iter().filter_map(|part| part.inputs.features());
        self.table.rows().map_or(Ok(()), |table| table.prepare(parts))
    }

    fn forward(&self, place: usize, inputs: Inputs, _seed: u64) -> Result<EmbeddedBatch<'_>> {
        let Inputs::Features(features) = inputs else { bail!("a sparse encoder reads features") };
        let table = match &self.table {
            Table::Rows(table) => {
                let z = self.network.forward(&features, Some(table.sink(place)))?;
                return Ok(EmbeddedBatch { z, back: None });
            }
            Table::Dense(table) => table,
        };
        let sums = self.network.device_sums(&features, &table.folded()?)?;
        let activations: Tensor = Var::from_tensor(&sums.activations)?.as_tensor().clone();
        let z = self.network.after_sums(&activations, &features)?;
        let back = move |slopes: &Tensor, gradients: &mut GradStore| -> Result<()> {
            let (own, bias) = sums.backward(slopes, table.own.dim(0)?)?;
            gradients.insert(&table.shared, table.shared_gradient(&own)?);
            gradients.insert(&table.own, own);
            gradients.insert(&self.variables[FEATURE_BIAS], bias);
            Ok(())
        };
        Ok(EmbeddedBatch { z, back: Some((activations, Box::new(back))) })
    }

    fn sum_rows(&self, ranks: &dyn Ranks) -> Result<()> {
        self.table.rows().map_or(Ok(()), |table| table.sum(ranks))
    }

    fn step(&mut self, gradients: &GradStore, step: Step, clip: Option<f64>) -> Result<()> {
        let step = step.clipped(clip, || {
            let of_rows = self.table.rows().map_or(0.0, FactoredTable::squared_gradient);
            Ok(self.optimizer.squared_gradient(gradients)? + of_rows)
        })?;
        self.optimizer.step(gradients, step)?;
        if let Table::Rows(table) = &mut self.table {
            table.step(step);
        }
        Ok(())
    }

    fn parameters(&self) -> Result<Parameters> {
        let table = match &self.table {
            Table::Rows(table) => table.whole()?,
            Table::Dense(table) => table.folded()?,
        };
        let bias = self.variables[FEATURE_BIAS].clamp(-self.largest_bias, self.largest_bias)?;
        copied(self.specs.iter().map(|spec| {
            let tensor = match spec.name.as_str() {
                TABLE => &table,
                FEATURE_BIAS => &bias,
                name => self.variables[name].as_tensor(),
            };
            (spec.name.clone(), tensor.clone())
        }))
    }

    fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let of_rows = self.table.rows().map(FactoredTable::state).transpose()?;
        Ok(self.optimizer.state().chain(of_rows.into_iter().flatten()).collect())
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.optimizer.restore(checkpoint)?;
        match &mut self.table {
            Table::Rows(table) => table.restore(checkpoint),
            Table::Dense(_) => Ok(()),
        }
    }
}

/// The name in a checkpoint of the shared parts of the table's rows.
const SHARED: &str = "features.shared";

/// The rows' own values and the shared parts of a table.
struct DenseTable {
    set: FeatureSet,
    /// The rows' own values (rows x H).
    own: Var,
    /// The shared parts (parts x H).
    shared: Var,
}

impl DenseTable {
    /// Initialises the shared parts of pieces on squares with `drawn`, and everything else with
    /// zeros.
    fn new(set: FeatureSet, width: usize, device: &Device, drawn: Vec<f32>) -> Result<Self> {
        let drawn = Tensor::from_vec(drawn, (PIECE_SQUARES, width), device)?;
        let more = set.shared_rows() - PIECE_SQUARES;
        let rest = Tensor::zeros((more, width), DType::F32, device)?;
        let shared = Var::from_tensor(&Tensor::cat(&[&drawn, &rest], 0)?)?;
        Ok(Self { set, own: Var::zeros((set.rows(), width), DType::F32, device)?, shared })
    }

    /// Its variables with their names in a checkpoint.
    fn variables(&self) -> Vec<(String, Var)> {
        vec![(TABLE.to_owned(), self.own.clone()), (SHARED.to_owned(), self.shared.clone())]
    }

    /// Sets the rows' own values to `rows` (rows x H), and the shared parts to zero.
    fn begin(&self, rows: &Tensor) -> Result<()> {
        self.own.set(&rows.to_device(self.own.device())?)?;
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
