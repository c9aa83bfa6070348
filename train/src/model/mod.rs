//! Encoders in training: the interface that a training step uses, and the parts that all encoders
//! share.

mod gradients;
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
use crate::data::sampler::Batch;
use crate::optimizer::{DenseOptimizer, Step};
use crate::ranks::Ranks;
use crate::training::Checkpoint;

pub use gradients::{add_gradients, gradients};

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

    fn state(&self) -> Result<Vec<(String, Tensor)>>;

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

fn copied(tensors: impl Iterator<Item = Result<(String, Tensor)>>) -> Result<Parameters> {
    let copies = tensors.map(|named| {
        let (name, tensor) = named?;
        Ok((name, tensor.detach().to_device(&Device::Cpu)?.copy()?))
    });
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

#[cfg(test)]
mod tests {
    use azimuth_network::sparse::SparseConfig;
    use azimuth_network::transformer::TransformerConfig;

    use super::gradients::tests::taught;
    use super::*;
    use crate::options::TrainOptions;
    use crate::ranks::Alone;

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
