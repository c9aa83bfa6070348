//! Encoders in training: the interface that a training step uses, the parts that all encoders share,
//! and the gradients of a step, computed in parts, with their sum over all ranks.

mod sparse;
mod transformer;

use anyhow::{Context, Result};
use azimuth_network::parameters::{Init, ParameterSpec, Parameters};
use azimuth_network::{Architecture, Inputs};
use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Tensor, Var};
use rand_distr::{Distribution, Normal, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;
use sparse::Sparse;
use transformer::TransformerModel;

use crate::beginning::{Beginning, READOUT_LENGTH};
use crate::cpu::side_by_side;
use crate::data::sampler::{Batch, BatchPart, split_mix};
use crate::loss::{LossValues, Losses};
use crate::optimizer::{DenseOptimizer, Step};
use crate::ranks::{Ranks, sum_parts};
use crate::training::Checkpoint;

/// An encoder in training.
pub trait Model: Sync {
    fn optimizer(&self) -> &DenseOptimizer;

    fn readout(&self) -> &Readout;

    /// Replaces the randomly initialised parameters and read-out by those of `beginning`.
    fn begin(&mut self, beginning: &Beginning) -> Result<()>;

    /// Prepares for a batch, whose parts then go through [`Self::forward`] in parallel.
    fn prepare(&self, _batch: &Batch) -> Result<()> {
        Ok(())
    }

    /// Embeds part `place` of a batch. Dropout depends only on `seed`.
    fn forward(&self, place: usize, inputs: Inputs, seed: u64) -> Result<EmbeddedBatch<'_>>;

    /// Sums over all ranks the gradients that are not in candle's store.
    fn sum_rows(&self, _ranks: &dyn Ranks) -> Result<()> {
        Ok(())
    }

    /// Updates all parameters by a gradient step. Gradients are clipped to the norm `clip`.
    fn step(&mut self, gradients: &GradStore, step: Step, clip: Option<f64>) -> Result<()>;

    /// The parameters for play, in f32 on the CPU, without those used only in training.
    fn parameters(&self) -> Result<Parameters>;

    fn state(&self) -> Result<Vec<(String, Tensor)>> {
        Ok(self.optimizer().state().collect())
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()>;
}

/// The embeddings of a batch, and the backward pass to the parameters.
pub struct EmbeddedBatch<'a> {
    /// Unit embeddings (batch x D) in f32, the input of the losses.
    pub z: Tensor,
    /// A tensor and the backward pass from its gradient to the parameters. `None` if candle
    /// computes the whole backward pass.
    back: Option<(Tensor, Back<'a>)>,
}

/// Adds the parameters' gradients to the store.
type Back<'a> = Box<dyn FnOnce(&Tensor, &mut GradStore) -> Result<()> + 'a>;

impl EmbeddedBatch<'_> {
    /// The gradients of `loss`, a function of the embeddings.
    pub fn backward(self, loss: &Tensor) -> Result<GradStore> {
        let mut gradients = loss.backward()?;
        if let Some((leaf, back)) = self.back {
            // Candle tracks the gradient as a function of the loss's tensors. Without `detach`,
            // everything that `back` computes would stay in memory.
            let slopes = gradients.get(&leaf).context("the loss has no gradient")?.detach();
            back(&slopes, &mut gradients)?;
        }
        Ok(gradients)
    }
}

/// The read-out of the auxiliary regression: a direction (D) and a bias.
pub struct Readout {
    pub direction: Var,
    pub bias: Var,
}

impl Readout {
    /// A random direction for embeddings of dimension `dim`.
    pub fn new(dim: usize, device: &Device, rng: &mut Xoshiro256PlusPlus) -> Result<Self> {
        let spread = READOUT_LENGTH / (dim as f32).sqrt();
        let mut drawn =
            |name, size, init| variable(&ParameterSpec::new(name, &[size], init), device, rng);
        Ok(Self {
            direction: drawn("readout.direction", dim, Init::Normal(spread))?,
            bias: drawn("readout.bias", 1, Init::Constant(0.0))?,
        })
    }

    /// Its variables with their names in a checkpoint.
    pub fn variables(&self) -> [(String, Var); 2] {
        [("readout.direction", &self.direction), ("readout.bias", &self.bias)]
            .map(|(name, variable)| (name.to_owned(), variable.clone()))
    }

    pub fn begin(&self, beginning: &Beginning) -> Result<()> {
        let device = self.bias.device();
        let readout = &beginning.readout;
        self.direction.set(&Tensor::from_slice(readout, readout.len(), device)?)?;
        Ok(self.bias.set(&Tensor::new(&[beginning.readout_bias], device)?)?)
    }
}

/// An encoder with parameters initialised from `seed`. A transformer computes in `dtype`. Batches
/// of a sparse encoder come in `parts` on the CPU, and in one part on a device.
pub fn build(
    architecture: &Architecture,
    device: &Device,
    dtype: DType,
    dropout: f32,
    parts: usize,
    seed: u64,
) -> Result<Box<dyn Model>> {
    Ok(match architecture {
        Architecture::Transformer(config) => {
            Box::new(TransformerModel::new(config, device, dtype, dropout, seed)?)
        }
        Architecture::Sparse(config) => {
            Box::new(Sparse::new(config, device, device.is_cpu().then_some(parts), seed)?)
        }
    })
}

fn copied(tensors: impl Iterator<Item = (String, Tensor)>) -> Result<Parameters> {
    let copies =
        tensors.map(|(name, tensor)| Ok((name, tensor.detach().to_device(&Device::Cpu)?.copy()?)));
    Ok(Parameters::new(copies.collect::<Result<Vec<_>>>()?))
}

/// `count` random values with the distribution `init`.
pub fn draw(init: Init, count: usize, rng: &mut Xoshiro256PlusPlus) -> Result<Vec<f32>> {
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

/// A parameter that is optimised as one dense tensor.
pub fn variable(
    spec: &ParameterSpec,
    device: &Device,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Var> {
    let values = draw(spec.init, spec.shape.iter().product(), rng)?;
    Ok(Var::from_vec(values, spec.shape.as_slice(), device)?)
}

/// The gradients and losses of a step, averaged over the parts of all ranks. The parts of this rank
/// are computed in parallel. Dropout depends only on `seed` and on the place of a part.
pub fn gradients(
    model: &dyn Model,
    batch: Batch,
    losses: &Losses,
    seed: u64,
    ranks: &dyn Ranks,
) -> Result<(GradStore, LossValues)> {
    model.prepare(&batch)?;
    let found = side_by_side(batch.parts, |part| part_gradients(model, part, losses, seed));
    if ranks.count() > 1 {
        return sum_of_ranks(model, &found.into_iter().collect::<Result<Vec<_>>>()?, ranks);
    }
    let mut found = found.into_iter();
    let (mut gradients, mut values) = found.next().context("a batch of nothing")??;
    for part in found {
        let (more, others) = part?;
        add_gradients(&mut gradients, &more, model.optimizer().variables())?;
        values = values.add(&others)?;
    }
    Ok((gradients, values))
}

/// Adds the gradients of `variables` in `more` to `sums`.
pub fn add_gradients<'a>(
    sums: &mut GradStore,
    more: &GradStore,
    variables: impl Iterator<Item = &'a Var>,
) -> Result<()> {
    for variable in variables {
        if let Some(gradient) = more.get(variable) {
            let sum = match sums.get(variable) {
                Some(first) => (first + gradient)?,
                None => gradient.clone(),
            };
            sums.insert(variable, sum);
        }
    }
    Ok(())
}

fn part_gradients(
    model: &dyn Model,
    part: BatchPart,
    losses: &Losses,
    seed: u64,
) -> Result<(GradStore, LossValues)> {
    let BatchPart { place, weight, inputs, labels, contrasts } = part;
    let embedded = model.forward(place, inputs, seed ^ split_mix(place as u64))?;
    let Readout { direction, bias } = model.readout();
    let found = losses.of(&embedded.z, &labels, contrasts, direction, bias)?.scaled(weight)?;
    Ok((embedded.backward(&found.total)?, found))
}

const LOSSES: usize = 3;

/// The sum of the gradients and losses of all parts of all ranks; `parts` has those of this rank.
fn sum_of_ranks(
    model: &dyn Model,
    parts: &[(GradStore, LossValues)],
    ranks: &dyn Ranks,
) -> Result<(GradStore, LossValues)> {
    let variables: Vec<&Var> = model.optimizer().variables().collect();
    let length = variables.iter().map(|variable| variable.elem_count()).sum::<usize>() + LOSSES;
    let device = model.readout().bias.device();
    let parts = parts.iter().map(|part| flat(part, &variables)).collect::<Result<Vec<_>>>()?;
    if !device.is_cpu() {
        // A device computes all parts of a rank together.
        let own = match parts.first() {
            Some(own) => own.clone(),
            None => Tensor::zeros(length, DType::F32, device)?,
        };
        if let Some(sum) = ranks.sum_on_devices(&own)? {
            return apart(&sum, &variables);
        }
    }
    let parts = parts.iter().map(|part| Ok(part.to_vec1()?)).collect::<Result<Vec<_>>>()?;
    let sum = sum_parts(ranks, &parts, length)?;
    model.sum_rows(ranks)?;
    apart(&Tensor::from_vec(sum, length, device)?, &variables)
}

/// The gradients of all variables one after another, and then the losses, in f32.
fn flat((gradients, values): &(GradStore, LossValues), variables: &[&Var]) -> Result<Tensor> {
    let mut all = Vec::new();
    for variable in variables {
        let gradient = gradients.get(variable).context("a parameter has no gradient")?;
        all.push(gradient.flatten_all()?.to_dtype(DType::F32)?);
    }
    for loss in [&values.total, &values.contrastive, &values.regression] {
        all.push(loss.detach().flatten_all()?);
    }
    Ok(Tensor::cat(&all, 0)?)
}

/// The inverse of [`flat`].
fn apart(all: &Tensor, variables: &[&Var]) -> Result<(GradStore, LossValues)> {
    // Candle creates a gradient store only in a backward pass.
    let mut gradients = all.zeros_like()?.sum_all()?.backward()?;
    let mut first = 0;
    for variable in variables {
        let count = variable.elem_count();
        gradients.insert(variable, all.narrow(0, first, count)?.reshape(variable.shape())?);
        first += count;
    }
    let loss = |index: usize| all.get(first + index);
    let values = LossValues { total: loss(0)?, contrastive: loss(1)?, regression: loss(2)? };
    Ok((gradients, values))
}

#[cfg(test)]
mod tests {
    use azimuth_network::sparse::SparseConfig;
    use azimuth_network::transformer::TransformerConfig;
    use cozy_chess::Board;

    use super::*;
    use crate::config::Config;
    use crate::options::TrainOptions;
    use crate::ranks::threads::on_threads;
    use crate::ranks::{Alone, share_of};

    /// Number of positions of a part with all pieces.
    const FULL: usize = 5;

    /// Positions of a part with few pieces, for other heads.
    const FEW: [&str; 2] =
        ["8/2k5/8/3q4/8/8/4R3/4K3 w - - 0 1", "8/2k5/8/3n4/8/8/4R3/4K3 b - - 0 1"];

    /// Part `place` of a batch of `parts`.
    fn part(architecture: &Architecture, place: usize, parts: usize) -> BatchPart {
        let number = |index: usize| (place * FULL + index) as u32;
        let full = (0..FULL).map(|index| Board::chess960_startpos(number(index) * 40));
        let few = FEW.map(|fen| fen.parse().expect("valid"));
        let boards: Vec<Board> = full.chain(few).collect();
        let labels = (0..FULL).map(|index| 0.3 + number(index) as f32 * 0.02);
        BatchPart {
            place,
            weight: 1.0 / parts as f64,
            inputs: Inputs::of(architecture.input_kind(), &boards),
            labels: labels.chain([0.1, 0.2]).collect(),
            contrasts: 1,
        }
    }

    /// The parameters and the last loss after the steps of a run on this rank's share of each batch.
    fn taught(
        model: &mut dyn Model,
        config: &Config,
        ranks: &dyn Ranks,
    ) -> Result<(Parameters, f32)> {
        let Config { architecture, losses, schedule, clip, .. } = config;
        let count = config.sampling.parts;
        let mut loss = f32::NAN;
        for step in 0..schedule.steps {
            let own = share_of(ranks, count)?;
            let parts = own.map(|place| part(architecture, place, count)).collect();
            let batch = Batch { parts, positions: count * (FULL + FEW.len()) };
            let (found, values) = gradients(model, batch, losses, step, ranks)?;
            loss = values.total.to_scalar()?;
            model.step(&found, schedule.step(step), *clip)?;
        }
        Ok((model.parameters()?, loss))
    }

    #[test]
    fn ranks_learn_as_one_process_to_the_last_bit() -> Result<()> {
        for encoder in [
            "--features exchange-states-16+threats --accumulator 128 --embedding-dim 8 --heads 2 \
             --middle-layers 1",
            "--encoder mini --layers 1 --hidden 16 --heads 2 --mlp 16 --embedding-dim 8",
        ] {
            let options = "--steps 4 --warmup 1 --learning-rate 0.01 --parts 4 --clip 1";
            let config = TrainOptions::with_options(&format!("{options} {encoder}"))?.config()?;
            let taught = |ranks: &dyn Ranks| {
                let (architecture, parts) = (&config.architecture, config.sampling.parts);
                let mut model = build(architecture, &Device::Cpu, DType::F32, 0.1, parts, 3)?;
                taught(&mut *model, &config, ranks)
            };
            let (expected, loss) = taught(&Alone)?;
            for count in [2, 4] {
                for (found, its_loss) in on_threads(count, taught)? {
                    assert_eq!(its_loss.to_bits(), loss.to_bits());
                    for (name, _) in expected.iter() {
                        let bits = |parameters: &Parameters| -> Result<Vec<u32>> {
                            Ok(parameters.values(name)?.iter().map(|v| v.to_bits()).collect())
                        };
                        assert!(bits(&found)? == bits(&expected)?, "{name}, {count} ranks");
                    }
                }
            }
        }
        assert!(on_threads(3, |ranks| share_of(ranks, 4)).is_err());
        Ok(())
    }

    #[test]
    fn a_table_for_a_device_learns_as_one_of_rows() -> Result<()> {
        // Adam would amplify the rounding errors of sums that cancel.
        let options = "--steps 5 --optimizer sgd --learning-rate 0.001 --clip 10 --accumulator 128 \
                       --features exchange-states-16+threats+king-buckets-4 --embedding-dim 8 \
                       --heads 4 --middle-layers 2";
        let config = TrainOptions::with_options(options)?.config()?;
        let Architecture::Sparse(sparse) = &config.architecture else { unreachable!() };
        let learn = |parts: Option<usize>| {
            taught(&mut Sparse::new(sparse, &Device::Cpu, parts, 3)?, &config, &Alone)
        };
        let ((rows, rows_loss), (dense, dense_loss)) = (learn(Some(1))?, learn(None)?);
        assert!((rows_loss - dense_loss).abs() < 1e-2 * rows_loss, "{rows_loss} {dense_loss}");
        for name in ["features.weight", "features.bias", "middle.weight", "projection.bias"] {
            let difference = (rows.get(name)? - dense.get(name)?)?.abs()?.max_all()?;
            let difference = difference.to_scalar::<f32>()?;
            assert!(difference < 2e-3, "{name}: {difference}");
        }
        Ok(())
    }

    #[test]
    fn a_model_begins_with_the_parameters_that_it_is_given() -> Result<()> {
        let sparse = SparseConfig {
            features: "exchange-states-16+king-buckets-4".parse()?,
            accumulator: 128,
            embedding_dim: 8,
            heads: 2,
            middle_layers: 1,
        };
        let mini = TransformerConfig::mini();
        let device = &Device::Cpu;
        type Kind<'a> = &'a dyn Fn(u64) -> Result<Box<dyn Model>>;
        let kinds: [(usize, Kind<'_>); 3] = [
            (8, &|seed| Ok(Box::new(Sparse::new(&sparse, device, Some(2), seed)?))),
            (8, &|seed| Ok(Box::new(Sparse::new(&sparse, device, None, seed)?))),
            (mini.embedding_dim, &|seed| {
                Ok(Box::new(TransformerModel::new(&mini, device, DType::F32, 0.0, seed)?))
            }),
        ];
        for (dim, model) in kinds {
            let (given, mut begun) = (model(1)?.parameters()?, model(2)?);
            let readout = vec![0.25; dim];
            begun.begin(&Beginning { parameters: given.clone(), readout, readout_bias: 0.5 })?;
            let parameters = begun.parameters()?;
            for (name, _) in given.iter() {
                assert_eq!(parameters.values(name)?, given.values(name)?, "{name}");
            }
            let readout = begun.readout();
            assert!(readout.direction.to_vec1::<f32>()?.iter().all(|&value| value == 0.25));
            assert_eq!(readout.bias.to_vec1::<f32>()?, [0.5]);
        }
        Ok(())
    }
}
