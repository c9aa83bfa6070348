//! Encoders for play: they map positions to unit vectors through one interface. [`build`] makes
//! them from weights.

#[cfg(feature = "cuda")]
mod gpu_transformer;

/// The sparse encoder for play: in integers, with feature sums that are updated from position to
/// position.
pub mod sparse {
    mod accumulator;
    mod kernels;
    mod quantised;

    pub use kernels::Kernels;
    pub use quantised::{QuantisedEncoder, largest_playable_value};
}

use std::fmt;

use anyhow::{Context, Error, Result, ensure};
use azimuth_chess::tokens::Tokens;
use azimuth_network::axis::Axis;
use azimuth_network::transformer::{Transformer, token_ids};
use azimuth_network::weights::Weights;
use azimuth_network::{Architecture, InputKind, Inputs};
use candle_core::{DType, Device};
use cozy_chess::Board;

#[cfg(feature = "cuda")]
use gpu_transformer::GpuTransformer;
use sparse::QuantisedEncoder;

/// Maps positions to unit vectors, and to their cosines with a fixed axis, on one device.
pub trait Encoder: Send {
    /// Batch sizes, dimensions and the form of the inputs.
    fn attributes(&self) -> Attributes;

    /// Unit embeddings, row by row: `inputs.len()` x `embedding_dim`. Fails on a device error.
    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>, EncodeError>;

    /// Starts to compute the positions' cosines with the axis. A device error is returned here or
    /// by [`Scores::wait`].
    fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError>;

    /// The cosine of one position with the axis, as [`Self::begin`] computes it.
    fn cosine(&mut self, board: &Board) -> Result<f32, EncodeError> {
        let scores = self.begin(&Inputs::of(self.attributes().input, [board]))?.wait()?;
        Ok(scores.first().copied().context("the encoder scored nothing")?)
    }

    /// The same encoder with candle's operations only, for a device that fails its check.
    fn composed(&self) -> Option<Box<dyn Encoder>> {
        None
    }

    /// A copy for the calling thread; `None` where it is faster to hand batches to another thread.
    fn for_caller(&self) -> Option<Box<dyn Encoder>> {
        None
    }

    /// A copy with the same parameters in memory; `None` if a device has the encoder's buffers.
    fn copy(&self) -> Option<Box<dyn Encoder>> {
        self.for_caller()
    }
}

/// The encoder of `weights` on `device`: the integer path for a sparse encoder on the CPU, candle
/// otherwise. Fails where the parameters do not fit the integer path, or the device fails.
pub fn build(weights: &Weights, device: &Device, dtype: DType) -> Result<Box<dyn Encoder>> {
    let (parameters, axis) = (&weights.parameters, &weights.axis);
    let architecture = &weights.metadata.architecture;
    ensure!(
        !cfg!(target_family = "wasm") || matches!(architecture, Architecture::Sparse(_)),
        "WebAssembly runs sparse encoders only, and the weights are of {architecture}"
    );
    Ok(match architecture {
        Architecture::Sparse(config) => Box::new(QuantisedEncoder::new(config, parameters, axis)?),
        Architecture::Transformer(config) => match device {
            #[cfg(feature = "cuda")]
            Device::Cuda(_) => {
                Box::new(GpuTransformer::new(config, parameters, axis, device, dtype)?)
            }
            _ => {
                let network = Transformer::new(config, &parameters.to(&Device::Cpu, dtype)?)?;
                Box::new(CpuTransformer { network, axis: axis.clone() })
            }
        },
    })
}

/// Properties of an encoder.
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    /// The form of its inputs.
    pub input: InputKind,
    /// Dimension of its embeddings.
    pub embedding_dim: usize,
    /// Number of positions from which on larger batches gain little.
    pub recommended_batch: usize,
    /// Largest batch that it takes.
    pub maximum_batch: usize,
    /// Whether a fixed set of batch sizes is faster, because the device can reuse its buffers.
    pub fixed_sizes: bool,
}

/// One cosine for every position of a batch.
pub enum Scores {
    /// Computed by the calling thread.
    Ready(Vec<f32>),
    /// Being computed by a device.
    Pending(Box<dyn PendingScores>),
}

impl Scores {
    /// Waits for the scores if they are not ready.
    pub fn wait(self) -> Result<Vec<f32>, EncodeError> {
        match self {
            Self::Ready(scores) => Ok(scores),
            Self::Pending(pending) => pending.wait(),
        }
    }
}

/// Cosines that a device computes.
pub trait PendingScores {
    /// Whether the device is done.
    fn is_ready(&self) -> bool;

    /// Waits for the scores. Fails on a device error.
    fn wait(self: Box<Self>) -> Result<Vec<f32>, EncodeError>;
}

/// An encoder's failure to compute a batch.
#[derive(Debug)]
pub enum EncodeError {
    /// The batch is too large for the device's free memory; a smaller one may fit.
    OutOfMemory(Error),
    /// Any other failure.
    Failed(Error),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory(error) => write!(f, "the device is out of memory: {error:#}"),
            Self::Failed(error) => write!(f, "{error:#}"),
        }
    }
}

impl std::error::Error for EncodeError {}

impl From<Error> for EncodeError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<candle_core::Error> for EncodeError {
    fn from(error: candle_core::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Removes the backtrace that candle adds to an error when RUST_BACKTRACE is set, so that the error
/// fits on one line.
#[cfg(feature = "cuda")]
pub(crate) fn without_backtrace(error: candle_core::Error) -> candle_core::Error {
    match error {
        candle_core::Error::WithBacktrace { inner, .. } => without_backtrace(*inner),
        error => error,
    }
}

/// A transformer on the CPU.
#[derive(Clone)]
struct CpuTransformer {
    network: Transformer,
    axis: Axis,
}

impl Encoder for CpuTransformer {
    fn attributes(&self) -> Attributes {
        Attributes {
            input: InputKind::Tokens,
            embedding_dim: self.axis.dim(),
            recommended_batch: 32,
            maximum_batch: 256,
            fixed_sizes: false,
        }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>, EncodeError> {
        let ids = token_ids(tokens_of(inputs), &Device::Cpu)?;
        Ok(self.network.forward(&ids)?.flatten_all()?.to_vec1()?)
    }

    fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
        let embeddings = self.encode(inputs)?;
        Ok(Scores::Ready(self.axis.cosines(&embeddings)))
    }

    fn copy(&self) -> Option<Box<dyn Encoder>> {
        Some(Box::new(self.clone()))
    }
}

/// The tokens of a batch that was made for a transformer.
fn tokens_of(inputs: &Inputs) -> &[Tokens] {
    let Inputs::Tokens(batch) = inputs else { unreachable!("the attributes ask for tokens") };
    batch
}
