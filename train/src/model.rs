//! An encoder in training: its variables, how they begin, and how a batch goes through.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth::encoder::sparse::largest_playable_value;
use azimuth_network::parameters::{Init, ParameterSpec, Parameters};
use azimuth_network::sparse::SparseNetwork;
use azimuth_network::sparse::device_sums::DeviceSums;
use azimuth_network::sparse::features::FeatureSet;
use azimuth_network::transformer;
use azimuth_network::transformer::{Dropout, Transformer, token_ids};
use azimuth_network::{Architecture, Inputs};
use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Tensor, Var};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::beginning::{Beginning, READOUT_LENGTH, TABLE};
use crate::checkpoint::Checkpoint;
use crate::data::sampler::{Batch, BatchPart};
use crate::dense_table::DenseTable;
use crate::flat_parameters::FlatParameters;
use crate::loss::{Labels, LossValues, Losses};
use crate::optimizer::Step;
use crate::optimizer::dense::DenseOptimizer;
use crate::optimizer::rows::FactoredTable;
use crate::side_by_side::side_by_side;

const FEATURE_BIAS: &str = "features.bias";
/// The parts that the table's rows share.
const SHARED: &str = "features.shared";
const READOUT_DIRECTION: &str = "readout.direction";
const READOUT_BIAS: &str = "readout.bias";

/// The optimiser's name for all parameters of a transformer.
const PARAMETERS: &str = "parameters";

enum Network {
    Transformer(Transformer, FlatParameters),
    Sparse(SparseNetwork),
}

/// The sparse encoder's feature table.
enum Table {
    /// On the CPU, where only the rows present are touched.
    Rows(FactoredTable),
    /// On a device.
    Dense(DenseTable),
}

/// A batch in the space, and what leads from there back to the parameters.
struct Embedded {
    /// Unit embeddings (batch x D), f32, that losses are to be made of.
    z: Tensor,
    trace: Trace,
}

/// What was computed on the way to the space by operations that candle knows no way back through.
enum Trace {
    Nothing,
    Transformer(transformer::Trace),
    /// The feature sums and their activations, at which candle's way back ends.
    Sums(DeviceSums, Tensor),
}

/// An encoder whose parameters move.
pub struct Model {
    architecture: Architecture,
    device: Device,
    network: Network,
    variables: BTreeMap<String, Var>,
    optimizer: DenseOptimizer,
    table: Option<Table>,
    dropout: f32,
}

impl Model {
    /// Fresh parameters drawn from `seed`; a transformer computes in `dtype`, and its parameters move in
    /// f32. Batches come in `parts`; on a device in one.
    pub fn new(
        architecture: &Architecture,
        device: &Device,
        dtype: DType,
        dropout: f32,
        parts: usize,
        seed: u64,
    ) -> Result<Self> {
        let parts = device.is_cpu().then_some(parts);
        Self::with_table(architecture, device, dtype, dropout, parts, seed)
    }

    /// A sparse encoder's table is made for batches in `parts`, or for a device where there are none.
    fn with_table(
        architecture: &Architecture,
        device: &Device,
        dtype: DType,
        dropout: f32,
        parts: Option<usize>,
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
                        let (set, draw) =
                            (config.features, |count| draw(spec.init, count, &mut rng));
                        table = Some(match parts {
                            Some(parts) => {
                                Table::Rows(FactoredTable::new(set, width, parts, draw)?)
                            }
                            None => Table::Dense(DenseTable::new(set, width, device, draw)?),
                        });
                    } else {
                        let variable = variable(&spec, device, &mut rng)?;
                        variables.insert(spec.name, variable);
                    }
                }
                match &table {
                    Some(Table::Dense(table)) => {
                        variables.insert(TABLE.to_owned(), table.own().clone());
                        variables.insert(SHARED.to_owned(), table.shared().clone());
                    }
                    Some(Table::Rows(_)) | None => (),
                }
                let mut parameters: Vec<(String, Tensor)> =
                    variables.iter().map(|(n, v)| (n.clone(), v.as_tensor().clone())).collect();
                if let Some(Table::Rows(table)) = &table {
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

    /// Begins with parameters of the model's architecture and with a read-out, instead of what was drawn.
    pub fn begin(&mut self, beginning: &Beginning) -> Result<()> {
        let Beginning { parameters, readout, readout_bias } = beginning;
        let tensors = self.architecture.parameters().into_iter().map(|spec| {
            let tensor = parameters.get(&spec.name)?.to_dtype(DType::F32)?;
            Ok((spec.name, tensor.to_device(&self.device)?))
        });
        let tensors = tensors.collect::<Result<HashMap<_, _>>>()?;
        match &self.network {
            Network::Transformer(_, flat) => {
                flat.master().set(&flat.flatten(tensors)?)?;
                flat.refresh()?;
            }
            Network::Sparse(_) => {
                for (name, tensor) in &tensors {
                    match (&mut self.table, name.as_str()) {
                        (Some(Table::Rows(table)), TABLE) => table.begin(tensor)?,
                        (Some(Table::Dense(table)), TABLE) => table.begin(tensor)?,
                        _ => self.variables[name].set(tensor)?,
                    }
                }
            }
        }
        let direction = Tensor::from_slice(readout, readout.len(), &self.device)?;
        self.variables[READOUT_DIRECTION].set(&direction)?;
        Ok(self.variables[READOUT_BIAS].set(&Tensor::new(&[*readout_bias], &self.device)?)?)
    }

    /// The gradients of a step and its losses, means over the parts, which are computed side by side; dropout
    /// depends on `seed` alone.
    pub fn gradients(
        &self,
        batch: Batch,
        losses: &Losses,
        seed: u64,
    ) -> Result<(GradStore, LossValues)> {
        if let Some(Table::Rows(table)) = &self.table {
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
        let BatchPart { inputs, labels, parents, contrasts } = part;
        let labels = Labels { win_probabilities: &labels, parents: &parents, contrasts };
        let embedded = self.forward(place, inputs, seed)?;
        let (direction, bias) = self.readout();
        let found = losses.of(&embedded.z, &labels, direction, bias)?.scaled(1.0 / parts as f64)?;
        Ok((self.backward(embedded, &found.total)?, found))
    }

    /// The gradient of `loss`, made of `embedded`.
    fn backward(&self, embedded: Embedded, loss: &Tensor) -> Result<GradStore> {
        let mut gradients = loss.backward()?;
        let of = |gradients: &GradStore, tensor: &Tensor| {
            gradients.get(tensor).cloned().context("the loss has no gradient")
        };
        match (&self.network, embedded.trace, &self.table) {
            (Network::Transformer(network, flat), Trace::Transformer(trace), _) => {
                let slopes = of(&gradients, &embedded.z)?;
                let flattened = flat.flatten(network.backward(trace, &slopes)?)?;
                gradients.insert(flat.master(), flattened);
            }
            (_, Trace::Sums(sums, activations), Some(Table::Dense(table))) => {
                let slopes = of(&gradients, &activations)?;
                let (own, bias) = sums.backward(&slopes, table.own().dim(0)?)?;
                gradients.insert(table.shared(), table.shared_gradient(&own)?);
                gradients.insert(table.own(), own);
                gradients.insert(&self.variables[FEATURE_BIAS], bias);
            }
            _ => (),
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
                Ok(Embedded { z, trace: Trace::Transformer(trace) })
            }
            (Network::Sparse(network), Inputs::Features(features)) => match &self.table {
                Some(Table::Dense(table)) => {
                    let sums = network.device_sums(&features, &table.folded()?)?;
                    let activations = Var::from_tensor(&sums.activations()?)?.as_tensor().clone();
                    let z = network.after_sums(&activations, &features)?;
                    Ok(Embedded { z, trace: Trace::Sums(sums, activations) })
                }
                Some(Table::Rows(table)) => {
                    let z = network.forward(&Arc::new(features), Some(table.sink(place)))?;
                    Ok(Embedded { z, trace: Trace::Nothing })
                }
                None => unreachable!("a sparse encoder has a table"),
            },
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
            let rows = match &self.table {
                Some(Table::Rows(table)) => table.squared_gradient(),
                _ => 0.0,
            };
            step = step.clipped(longest, self.optimizer.squared_gradient(gradients)? + rows);
        }
        self.optimizer.step(gradients, step)?;
        if let Network::Transformer(_, flat) = &self.network {
            flat.refresh()?;
            // Every step in a device's queue has memory of its own, and one of these takes gigabytes.
            self.device.synchronize()?;
        }
        if let Some(Table::Rows(table)) = &mut self.table {
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
            Some(Table::Rows(table)) => Some(table.whole()?),
            Some(Table::Dense(table)) => Some(table.folded()?),
            None => None,
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

    /// Everything that a checkpoint holds of the model.
    pub fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let mut state: Vec<_> = self.optimizer.state().collect();
        if let Some(Table::Rows(table)) = &self.table {
            state.extend(table.state()?);
        }
        Ok(state)
    }

    /// Puts back what [`Self::state`] gave.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        let take = |name: &str| checkpoint.tensor(name);
        self.optimizer.restore(&take)?;
        if let Some(Table::Rows(table)) = &mut self.table {
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
    use azimuth_network::InputKind;
    use azimuth_network::sparse::SparseConfig;
    use azimuth_network::transformer::TransformerConfig;
    use cozy_chess::Board;

    use super::*;
    use crate::optimizer::{OptimizerKind, Schedule, Shape};
    use crate::positive_threshold::PositiveThreshold;

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
            shape: Shape::Cosine,
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

    /// A batch of two kinds of positions, which are to be told apart, and the parameters after some steps.
    fn taught_sparse(parts: Option<usize>) -> Result<(f32, Parameters)> {
        let architecture = Architecture::Sparse(SparseConfig {
            features: "attack-states-8+threats+king-buckets-4".parse()?,
            accumulator: 128,
            embedding_dim: 8,
            heads: 4,
            middle_layers: 2,
        });
        let device = &Device::Cpu;
        let mut model = Model::with_table(&architecture, device, DType::F32, 0.0, parts, 3)?;
        let mut inputs = Inputs::new(architecture.input_kind());
        for number in 0..6 {
            inputs.push(&Board::chess960_startpos(number * 100));
        }
        for fen in ["8/2k5/8/3q4/8/8/4R3/4K3 w - - 0 1", "8/2k5/8/3n4/8/8/4R3/4K3 b - - 0 1"] {
            inputs.push(&fen.parse().map_err(|error| anyhow::anyhow!("{fen}: {error}"))?);
        }
        let labels = vec![0.5, 0.5, 0.52, 0.48, 0.5, 0.5, 0.1, 0.2];
        let losses = Losses {
            threshold: PositiveThreshold { delta: 0.05, delta_equal: 0.05 },
            temperature: 0.07,
            soft: false,
            contrastive: 1.0,
            regression: 100.0,
            cosine: 0.0,
            ranking: 0.0,
        };
        let schedule = Schedule {
            // Adam would make a step of what is left of sums that cancel out.
            rule: OptimizerKind::Sgd,
            learning_rate: 1e-3,
            warmup: 1,
            steps: 5,
            weight_decay: 0.0,
            shape: Shape::Cosine,
        };
        let mut loss = f32::NAN;
        for step in 0..schedule.steps {
            let part = BatchPart {
                inputs: inputs.clone(),
                labels: labels.clone(),
                parents: vec![0; labels.len()],
                contrasts: 1,
            };
            let (gradients, found) = model.gradients(vec![part], &losses, step)?;
            loss = found.total.to_scalar()?;
            model.step(&gradients, schedule.step(step), Some(10.0))?;
        }
        Ok((loss, model.parameters()?))
    }

    #[test]
    fn a_table_for_a_device_learns_as_one_of_rows() -> Result<()> {
        let ((rows_loss, rows), (dense_loss, dense)) =
            (taught_sparse(Some(1))?, taught_sparse(None)?);
        assert!((rows_loss - dense_loss).abs() < 1e-2 * rows_loss, "{rows_loss} {dense_loss}");
        for name in ["features.weight", "features.bias", "middle.weight", "projection.bias"] {
            let difference = (rows.get(name)? - dense.get(name)?)?.abs()?.max_all()?;
            let difference = difference.to_scalar::<f32>()?;
            assert!(difference < 2e-3, "{name}: {difference}");
        }
        Ok(())
    }

    #[test]
    fn a_model_begins_with_what_it_is_given() -> Result<()> {
        let sparse = Architecture::Sparse(SparseConfig {
            features: "attack-states-8+king-buckets-4".parse()?,
            accumulator: 128,
            embedding_dim: 8,
            heads: 2,
            middle_layers: 1,
        });
        let mini = Architecture::Transformer(TransformerConfig::mini());
        for (architecture, parts) in [(&sparse, Some(2)), (&sparse, None), (&mini, None)] {
            let model =
                |seed| Model::with_table(architecture, &Device::Cpu, DType::F32, 0.0, parts, seed);
            let (given, mut begun) = (model(1)?.parameters()?, model(2)?);
            let readout = vec![0.25; architecture.embedding_dim()];
            begun.begin(&Beginning { parameters: given.clone(), readout, readout_bias: 0.5 })?;
            let parameters = begun.parameters()?;
            for (name, _) in given.iter() {
                assert_eq!(parameters.values(name)?, given.values(name)?, "{name}");
            }
            let (direction, bias) = begun.readout();
            assert!(direction.to_vec1::<f32>()?.iter().all(|&value| value == 0.25));
            assert_eq!(bias.to_vec1::<f32>()?, [0.5]);
        }
        Ok(())
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
