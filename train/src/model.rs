//! An encoder in training: its variables, how they begin, and how a batch goes through.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth::encoder::parameters::{Init, ParameterSpec, Parameters};
use azimuth::encoder::sparse::SparseNetwork;
use azimuth::encoder::sparse::features::{FeatureSet, PIECE_SQUARES};
use azimuth::encoder::sparse::quantised::largest_playable_value;
use azimuth::encoder::transformer::{Dropout, Trace, Transformer, token_ids};
use azimuth::encoder::{Architecture, Inputs};
use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Tensor, Var};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::checkpoint::Checkpoint;
use crate::data::sampler::{Batch, BatchPart};
use crate::flat_parameters::FlatParameters;
use crate::loss::{Labels, LossValues, Losses};
use crate::optimizer::Step;
use crate::optimizer::dense::DenseOptimizer;
use crate::optimizer::rows::FactoredTable;
use crate::side_by_side::side_by_side;

/// The parameter that [`FactoredTable`] replaces.
const TABLE: &str = "features.weight";
const FEATURE_BIAS: &str = "features.bias";
/// The parts that the table's rows share.
const SHARED: &str = "features.shared";
const READOUT_DIRECTION: &str = "readout.direction";
const READOUT_BIAS: &str = "readout.bias";

/// Length of the auxiliary read-out's direction at first: a slope at which cosines of ± 1 are
/// nearly certain wins and losses.
const READOUT_LENGTH: f32 = 5.0;

/// The optimiser's name for all parameters of a transformer.
const PARAMETERS: &str = "parameters";

enum Network {
    Transformer(Transformer, FlatParameters),
    Sparse(SparseNetwork),
}

/// A batch in the space, and what leads from there back to the parameters.
struct Embedded {
    /// Unit embeddings (batch x D), f32, that losses are to be made of.
    z: Tensor,
    trace: Option<Trace>,
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
    /// Fresh parameters drawn from `seed`; a transformer computes in `dtype`, and its parameters move in
    /// f32. Batches come in `parts`.
    pub fn new(
        architecture: &Architecture,
        device: &Device,
        dtype: DType,
        dropout: f32,
        parts: usize,
        seed: u64,
    ) -> Result<Self> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut variables = BTreeMap::new();
        let mut table = None;
        let network = match architecture {
            Architecture::Transformer(config) => {
                let specs = config.parameters();
                let mut values = Vec::new();
                for spec in &specs {
                    values.extend(draw(spec.init, spec.shape.iter().product(), &mut rng)?);
                }
                let flat = FlatParameters::new(specs, values, device, dtype)?;
                variables.insert(PARAMETERS.to_owned(), flat.master().clone());
                let network = Transformer::new(config, &flat.working_parameters()?)?;
                Network::Transformer(network, flat)
            }
            Architecture::Sparse(config) => {
                for spec in config.parameters() {
                    if spec.name == TABLE {
                        let width = spec.shape[1];
                        let largest = largest_playable_value(config.features);
                        let draw = |count| draw(spec.init, count, &mut rng);
                        if device.is_cpu() {
                            table = Some(FactoredTable::new(
                                config.features,
                                width,
                                parts,
                                largest,
                                draw,
                            )?);
                        } else {
                            let (own, shared) = dense_table(config.features, width, device, draw)?;
                            variables.insert(SHARED.to_owned(), shared);
                            variables.insert(spec.name, own);
                        }
                    } else {
                        let variable = variable(&spec, device, &mut rng)?;
                        variables.insert(spec.name, variable);
                    }
                }
                let mut parameters: Vec<(String, Tensor)> =
                    variables.iter().map(|(n, v)| (n.clone(), v.as_tensor().clone())).collect();
                if let Some(table) = &table {
                    parameters.push((TABLE.to_owned(), table.table().clone()));
                }
                Network::Sparse(SparseNetwork::new(config, &Parameters::new(parameters))?)
            }
        };
        let dim = architecture.embedding_dim();
        let spread = READOUT_LENGTH / (dim as f32).sqrt();
        for spec in [
            ParameterSpec::new(READOUT_DIRECTION, &[dim], Init::Normal(spread)),
            ParameterSpec::new(READOUT_BIAS, &[1], Init::Constant(0.0)),
        ] {
            let variable = variable(&spec, device, &mut rng)?;
            variables.insert(spec.name, variable);
        }
        let optimizer = DenseOptimizer::new(variables.iter().map(|(n, v)| (n.clone(), v.clone())))?;
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

    /// The gradients of a step and its losses, means over the parts, which are computed side by side; dropout
    /// depends on `seed` alone.
    pub fn gradients(
        &self,
        batch: Batch,
        losses: &Losses,
        seed: u64,
    ) -> Result<(GradStore, LossValues)> {
        if let Some(table) = &self.table {
            table.prepare(batch.iter().filter_map(|part| part.inputs.features()))?;
        }
        let parts = batch.len();
        let work = |place, part| self.part_gradients(place, part, losses, parts, seed);
        let mut found = side_by_side(batch, work).into_iter();
        let (mut gradients, mut values) = found.next().context("a batch of nothing")??;
        for part in found {
            let (more, others) = part?;
            for variable in self.variables.values() {
                if let Some(gradient) = more.get(variable) {
                    let sum = match gradients.get(variable) {
                        Some(first) => (first + gradient)?,
                        None => gradient.clone(),
                    };
                    gradients.insert(variable, sum);
                }
            }
            values = values.add(&others)?;
        }
        Ok((gradients, values))
    }

    /// One of `parts` parts of [`Self::gradients`].
    fn part_gradients(
        &self,
        place: usize,
        part: BatchPart,
        losses: &Losses,
        parts: usize,
        seed: u64,
    ) -> Result<(GradStore, LossValues)> {
        let embedded = self.forward(place, part.inputs, seed)?;
        let labels = Labels { win_probabilities: &part.labels, parents: &part.parents };
        let (direction, bias) = self.readout();
        let found = losses.of(&embedded.z, &labels, direction, bias)?.scaled(1.0 / parts as f64)?;
        Ok((self.backward(embedded, &found.total)?, found))
    }

    /// The gradient of `loss`, made of `embedded`.
    fn backward(&self, embedded: Embedded, loss: &Tensor) -> Result<GradStore> {
        let mut gradients = loss.backward()?;
        if let (Network::Transformer(network, flat), Some(trace)) = (&self.network, embedded.trace)
        {
            let slopes = gradients.get(&embedded.z).context("the loss has no gradient")?.clone();
            let flattened = flat.flatten(network.backward(trace, &slopes)?)?;
            gradients.insert(flat.master(), flattened);
        }
        Ok(gradients)
    }

    /// Part `place` of a training batch in the space.
    fn forward(&self, place: usize, inputs: Inputs, seed: u64) -> Result<Embedded> {
        match (&self.network, inputs) {
            (Network::Transformer(network, _), Inputs::Tokens(tokens)) => {
                let ids = token_ids(&tokens, &self.device)?;
                let trace = network.forward_traced(&ids, Dropout::new(self.dropout, seed))?;
                let z = Var::from_tensor(trace.embeddings())?.as_tensor().clone();
                Ok(Embedded { z, trace: Some(trace) })
            }
            (Network::Sparse(network), Inputs::Features(features)) => {
                let folded = self.folded_table()?;
                let sink = self.table.as_ref().map(|table| table.sink(place));
                let z = network.forward(&Arc::new(features), folded.as_ref(), sink)?;
                Ok(Embedded { z, trace: None })
            }
            _ => unreachable!("batches are made for the architecture"),
        }
    }

    /// Direction and bias of the auxiliary regression.
    fn readout(&self) -> (&Tensor, &Tensor) {
        (&self.variables[READOUT_DIRECTION], &self.variables[READOUT_BIAS])
    }

    /// Moves all parameters against `gradients`, cut to length `clip`.
    pub fn step(&mut self, gradients: &GradStore, mut step: Step, clip: Option<f64>) -> Result<()> {
        if let Some(longest) = clip {
            let rows = self.table.as_ref().map_or(0.0, FactoredTable::squared_gradient);
            step = step.clipped(longest, self.optimizer.squared_gradient(gradients)? + rows);
        }
        self.optimizer.step(gradients, step)?;
        if let Network::Transformer(_, flat) = &self.network {
            flat.refresh()?;
        }
        if let Some(table) = &mut self.table {
            table.step(step);
        }
        Ok(())
    }

    /// The parameters as they play: the factoriser folded in, training-only ones left out, f32 on
    /// the CPU.
    pub fn parameters(&self) -> Result<Parameters> {
        if let Network::Transformer(_, flat) = &self.network {
            return copied(flat.parameters()?.iter().map(|(n, t)| (n.clone(), t.clone())));
        }
        let table = match &self.table {
            Some(table) => Some(table.whole()?),
            None => self.folded_table()?,
        };
        let largest = features(&self.architecture).map_or(f32::MAX, largest_playable_value);
        let tensors = self.architecture.parameters().into_iter().map(|spec| {
            let tensor = match &table {
                Some(table) if spec.name == TABLE => table.clone(),
                _ if spec.name == FEATURE_BIAS => {
                    self.variables[&spec.name].clamp(-largest, largest)?
                }
                _ => self.variables[&spec.name].as_tensor().clone(),
            };
            Ok((spec.name, tensor))
        });
        copied(tensors.collect::<Result<Vec<_>>>()?.into_iter())
    }

    /// How many values of the feature table in `parameters` are as large as can play.
    pub fn values_at_limit(&self, parameters: &Parameters) -> Result<usize> {
        let Some(set) = features(&self.architecture) else { return Ok(0) };
        let largest = largest_playable_value(set);
        let values = parameters.values(TABLE)?;
        Ok(values.iter().filter(|value| value.abs() >= largest).count())
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
        let largest = largest_playable_value(set);
        Ok(Some(table.clamp(-largest, largest)?))
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
        if let Network::Transformer(_, flat) = &self.network {
            flat.refresh()?;
        }
        Ok(())
    }
}

/// The tensors as they are now, on the CPU.
fn copied(tensors: impl Iterator<Item = (String, Tensor)>) -> Result<Parameters> {
    let copies = tensors.map(|(name, t)| Ok((name, t.detach().to_device(&Device::Cpu)?.copy()?)));
    Ok(Parameters::new(copies.collect::<Result<Vec<_>>>()?))
}

fn features(architecture: &Architecture) -> Option<FeatureSet> {
    match architecture {
        Architecture::Sparse(config) => Some(config.features),
        Architecture::Transformer(_) => None,
    }
}

/// A table's own rows and those that they share as dense variables. They begin as on the CPU: what rows
/// share is drawn, their own values are 0.
fn dense_table(
    set: FeatureSet,
    width: usize,
    device: &Device,
    mut draw: impl FnMut(usize) -> Result<Vec<f32>>,
) -> Result<(Var, Var)> {
    let pieces = Tensor::from_vec(draw(PIECE_SQUARES * width)?, (PIECE_SQUARES, width), device)?;
    let more = set.shared_rows() - PIECE_SQUARES;
    let rest = Tensor::zeros((more, width), DType::F32, device)?;
    let shared = Var::from_tensor(&Tensor::cat(&[&pieces, &rest], 0)?)?;
    Ok((Var::zeros((set.rows(), width), DType::F32, device)?, shared))
}

fn variable(spec: &ParameterSpec, device: &Device, rng: &mut Xoshiro256PlusPlus) -> Result<Var> {
    let values = draw(spec.init, spec.shape.iter().product(), rng)?;
    Ok(Var::from_vec(values, spec.shape.as_slice(), device)?)
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

#[cfg(test)]
mod tests {
    use azimuth::encoder::InputKind;
    use azimuth::encoder::transformer::TransformerConfig;
    use cozy_chess::Board;

    use super::*;
    use crate::optimizer::{OptimizerKind, Schedule};

    /// The mean squared distance of all embeddings from the first axis after some steps towards it.
    fn taught(dtype: DType) -> Result<(f32, Model)> {
        let config =
            TransformerConfig { layers: 1, hidden: 16, heads: 1, mlp: 16, embedding_dim: 8 };
        let architecture = Architecture::Transformer(config);
        let mut model = Model::new(&architecture, &Device::Cpu, dtype, 0.1, 1, 3)?;
        let boards: Vec<Board> = (0..8).map(|n| Board::chess960_startpos(n * 100)).collect();
        let inputs = Inputs::of(InputKind::Tokens, &boards);
        let schedule = Schedule {
            rule: OptimizerKind::Sgd,
            learning_rate: 1e-2,
            warmup: 1,
            steps: 40,
            weight_decay: 0.0,
        };
        let target = Tensor::new(&[1f32, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &Device::Cpu)?;
        let mut distance = f32::NAN;
        for step in 0..schedule.steps {
            let embedded = model.forward(0, inputs.clone(), step)?;
            let loss = embedded.z.broadcast_sub(&target)?.sqr()?.mean_all()?;
            distance = loss.to_scalar()?;
            let gradients = model.backward(embedded, &loss)?;
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
        // What moves is finer than the network's precision.
        let weights = model.parameters()?.get("projection.weight")?;
        let rounded = weights.to_dtype(DType::BF16)?.to_dtype(DType::F32)?;
        let lost = (weights - rounded)?.abs()?.max_all()?.to_scalar::<f32>()?;
        assert!(lost > 0.0);
        Ok(())
    }
}
