//! An encoder in training: its variables, how they begin, and how a batch goes through.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use azimuth::encoder::parameters::{Init, ParameterSpec, Parameters};
use azimuth::encoder::sparse::SparseNetwork;
use azimuth::encoder::sparse::features::{FeatureSet, PIECE_SQUARES};
use azimuth::encoder::transformer::{Dropout, Transformer, token_tensor};
use azimuth::encoder::{Architecture, Inputs};
use candle_core::{DType, Device, Tensor, Var};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::checkpoint::Checkpoint;
use crate::optimizer::Step;
use crate::optimizer::dense::DenseOptimizer;
use crate::optimizer::rows::FactoredTable;

/// The parameter that [`FactoredTable`] replaces.
const TABLE: &str = "features.weight";
/// The parts that the table's rows share.
const SHARED: &str = "features.shared";
const READOUT_DIRECTION: &str = "readout.direction";
const READOUT_BIAS: &str = "readout.bias";

/// Length of the auxiliary read-out's direction at first: a slope at which cosines of ± 1 are
/// nearly certain wins and losses.
const READOUT_LENGTH: f32 = 5.0;

enum Network {
    Transformer(Transformer),
    Sparse(SparseNetwork),
}

/// An encoder whose parameters move.
pub struct Model {
    architecture: Architecture,
    device: Device,
    network: Network,
    variables: BTreeMap<String, Var>,
    optimizer: DenseOptimizer,
    /// The sparse encoder's table on the CPU, where only the rows present are touched.
    table: Option<FactoredTable>,
    dropout: f32,
}

impl Model {
    /// Fresh parameters drawn from `seed`.
    pub fn new(
        architecture: &Architecture,
        device: &Device,
        dropout: f32,
        seed: u64,
    ) -> Result<Self> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let dim = architecture.embedding_dim();
        let spread = READOUT_LENGTH / (dim as f32).sqrt();
        let mut specs = architecture.parameters();
        specs.push(ParameterSpec::new(READOUT_DIRECTION, &[dim], Init::Normal(spread)));
        specs.push(ParameterSpec::new(READOUT_BIAS, &[1], Init::Constant(0.0)));
        let mut variables = BTreeMap::new();
        let mut table = None;
        for spec in specs {
            if let (TABLE, Some(set)) = (&*spec.name, features(architecture)) {
                let width = spec.shape[1];
                let mut draw = |count| draw(spec.init, count, &mut rng);
                if device.is_cpu() {
                    table = Some(FactoredTable::new(set, width, draw)?);
                } else {
                    // The same beginning: what rows share is drawn, their own values are 0.
                    let pieces = Tensor::from_vec(
                        draw(PIECE_SQUARES * width)?,
                        (PIECE_SQUARES, width),
                        device,
                    )?;
                    let more = set.shared_rows() - PIECE_SQUARES;
                    let rest = Tensor::zeros((more, width), DType::F32, device)?;
                    let shared = Tensor::cat(&[&pieces, &rest], 0)?;
                    variables.insert(SHARED.to_owned(), Var::from_tensor(&shared)?);
                    let own = Var::zeros((set.rows(), width), DType::F32, device)?;
                    variables.insert(spec.name, own);
                }
                continue;
            }
            let values = draw(spec.init, spec.shape.iter().product(), &mut rng)?;
            let tensor = Tensor::from_vec(values, spec.shape.as_slice(), device)?;
            variables.insert(spec.name, Var::from_tensor(&tensor)?);
        }
        let optimizer = DenseOptimizer::new(variables.iter().map(|(n, v)| (n.clone(), v.clone())))?;
        let mut parameters: Vec<(String, Tensor)> =
            variables.iter().map(|(n, v)| (n.clone(), v.as_tensor().clone())).collect();
        if let Some(table) = &table {
            parameters.push((TABLE.to_owned(), table.table().clone()));
        }
        let parameters = Parameters::new(parameters);
        let network = match architecture {
            Architecture::Transformer(config) => {
                Network::Transformer(Transformer::new(config, &parameters)?)
            }
            Architecture::Sparse(config) => {
                Network::Sparse(SparseNetwork::new(config, &parameters)?)
            }
        };
        Ok(Self {
            architecture: architecture.clone(),
            device: device.clone(),
            network,
            variables,
            optimizer,
            table,
            dropout,
        })
    }

    /// Unit embeddings (batch x D) of a training batch; dropout depends on `seed` alone.
    pub fn forward(&self, inputs: Inputs, seed: u64) -> Result<Tensor> {
        match (&self.network, inputs) {
            (Network::Transformer(network), Inputs::Tokens(tokens)) => {
                let tokens = token_tensor(&tokens, &self.device)?;
                let mut dropout = SeededDropout::new(self.dropout, seed, &self.device)?;
                Ok(network.forward(&tokens, &mut dropout)?)
            }
            (Network::Sparse(network), Inputs::Features(features)) => {
                let folded = self.folded_table()?;
                if let Some(table) = &self.table {
                    table.prepare(&features)?;
                }
                let sink = self.table.as_ref().map(FactoredTable::sink);
                Ok(network.forward(&Arc::new(features), folded.as_ref(), sink)?)
            }
            _ => unreachable!("batches are made for the architecture"),
        }
    }

    /// Direction and bias of the auxiliary regression.
    pub fn readout(&self) -> (&Tensor, &Tensor) {
        (&self.variables[READOUT_DIRECTION], &self.variables[READOUT_BIAS])
    }

    /// Moves all parameters against the gradient of `loss`, which is cut to length `clip`.
    pub fn step(&mut self, loss: &Tensor, mut step: Step, clip: Option<f64>) -> Result<()> {
        let gradients = loss.backward()?;
        if let Some(longest) = clip {
            let rows = self.table.as_ref().map_or(0.0, FactoredTable::squared_gradient);
            step = step.clipped(longest, self.optimizer.squared_gradient(&gradients)? + rows);
        }
        self.optimizer.step(&gradients, step)?;
        if let Some(table) = &mut self.table {
            table.step(step);
        }
        Ok(())
    }

    /// The parameters as they play: the factoriser folded in, training-only ones left out, f32 on
    /// the CPU.
    pub fn parameters(&self) -> Result<Parameters> {
        let table = match &self.table {
            Some(table) => Some(table.whole()?),
            None => self.folded_table()?,
        };
        let named = self.architecture.parameters().into_iter().map(|spec| {
            let tensor = match &table {
                Some(table) if spec.name == TABLE => table.clone(),
                _ => self.variables[&spec.name].as_tensor().clone(),
            };
            Ok((spec.name, tensor.detach().to_device(&Device::Cpu)?.copy()?))
        });
        Ok(Parameters::new(named.collect::<Result<Vec<_>>>()?))
    }

    /// Own plus shared rows where both are dense variables.
    fn folded_table(&self) -> Result<Option<Tensor>> {
        let (Some(own), Some(shared), Some(set)) =
            (self.variables.get(TABLE), self.variables.get(SHARED), features(&self.architecture))
        else {
            return Ok(None);
        };
        let mut table = own.as_tensor().clone();
        let rows = set.rows();
        for part in 0..set.most_shared() {
            // Rows that share nothing more read the row of zeros at the end.
            let none = set.shared_rows() as u32;
            let ids: Vec<u32> = (0..rows)
                .map(|row| set.shared(row).nth(part).map_or(none, |shared| shared as u32))
                .collect();
            let zeros = Tensor::zeros((1, shared.dim(1)?), DType::F32, &self.device)?;
            let padded = Tensor::cat(&[shared.as_tensor(), &zeros], 0)?;
            let ids = Tensor::from_vec(ids, rows, &self.device)?;
            table = (table + padded.index_select(&ids, 0)?)?;
        }
        Ok(Some(table))
    }

    /// Everything that a checkpoint holds of the model.
    pub fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let mut state: Vec<_> = self.optimizer.state().collect();
        if let Some(table) = &self.table {
            state.extend(table.state()?);
        }
        Ok(state)
    }

    /// Puts back what [`Self::state`] gave.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        let take = |name: &str| checkpoint.tensor(name);
        self.optimizer.restore(&take)?;
        if let Some(table) = &mut self.table {
            table.restore(&take)?;
        }
        Ok(())
    }
}

fn features(architecture: &Architecture) -> Option<FeatureSet> {
    match architecture {
        Architecture::Sparse(config) => Some(config.features),
        Architecture::Transformer(_) => None,
    }
}

fn draw(init: Init, count: usize, rng: &mut Xoshiro256PlusPlus) -> Result<Vec<f32>> {
    Ok(match init {
        Init::Constant(value) => vec![value; count],
        Init::Normal(deviation) => {
            Normal::new(0.0, deviation)?.sample_iter(rng).take(count).collect()
        }
        Init::Uniform(bound) => {
            Uniform::new_inclusive(-bound, bound)?.sample_iter(rng).take(count).collect()
        }
    })
}

/// Inverted dropout whose masks follow from a seed on every device.
struct SeededDropout {
    rate: f32,
    rng: Xoshiro256PlusPlus,
}

impl SeededDropout {
    fn new(rate: f32, seed: u64, device: &Device) -> Result<Self> {
        if !device.is_cpu() {
            device.set_seed(seed)?;
        }
        Ok(Self { rate, rng: Xoshiro256PlusPlus::seed_from_u64(seed) })
    }
}

impl Dropout for SeededDropout {
    fn active(&self) -> bool {
        self.rate > 0.0
    }

    fn apply(&mut self, x: Tensor) -> candle_core::Result<Tensor> {
        if self.rate == 0.0 {
            return Ok(x);
        }
        let scale = 1.0 / (1.0 - self.rate);
        let mask = if x.device().is_cpu() {
            let threshold = (self.rate * 65_536.0) as u64;
            let mut bits = (0u64, 0);
            let mut kept = || {
                if bits.1 == 0 {
                    bits = (self.rng.random(), 4);
                }
                let draw = bits.0 & 0xffff;
                bits = (bits.0 >> 16, bits.1 - 1);
                if draw < threshold { 0.0 } else { scale }
            };
            let mask: Vec<f32> = (0..x.elem_count()).map(|_| kept()).collect();
            Tensor::from_vec(mask, x.shape(), x.device())?
        } else {
            let draws = Tensor::rand(0f32, 1f32, x.shape(), x.device())?;
            (draws.ge(self.rate)?.to_dtype(DType::F32)? * f64::from(scale))?
        };
        x * mask
    }
}
