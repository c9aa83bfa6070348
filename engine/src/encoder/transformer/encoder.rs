//! A transformer that encodes batches on a device.

use anyhow::Result;
#[cfg(feature = "cuda")]
use candle_core::Tensor;
use candle_core::{DType, Device};

#[cfg(feature = "cuda")]
use super::pipe::{self, Pipe};
use super::{Transformer, TransformerConfig, token_ids};
use crate::encoder::parameters::Parameters;
use crate::encoder::{Attributes, Encoder, InputKind, Inputs, Perspective, without_backtrace};
use crate::tokens::Tokens;
#[cfg(feature = "cuda")]
use crate::{
    axis::Axis,
    encoder::{OutOfMemory, Scores},
};

/// A transformer on a device, ready to encode.
pub struct TransformerEncoder {
    network: Transformer,
    embedding_dim: usize,
    device: Device,
    #[cfg(feature = "cuda")]
    on_gpu: Option<OnGpu>,
}

/// What a GPU works with besides the network.
#[cfg(feature = "cuda")]
struct OnGpu {
    pipe: Pipe,
    /// The axis, (D, 1); there is none before the first batch.
    axis: Option<Tensor>,
}

impl TransformerEncoder {
    /// Moves `parameters` to `device` in precision `dtype`.
    pub fn new(
        config: &TransformerConfig,
        parameters: &Parameters,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let network = Transformer::new(config, &parameters.to(device, dtype)?)?;
        Ok(Self {
            network,
            embedding_dim: config.embedding_dim,
            device: device.clone(),
            #[cfg(feature = "cuda")]
            on_gpu: match device {
                Device::Cuda(device) => Some(OnGpu { pipe: Pipe::new(device)?, axis: None }),
                _ => None,
            },
        })
    }
}

impl Encoder for TransformerEncoder {
    fn attributes(&self) -> Attributes {
        let on_cpu = self.device.is_cpu();
        let (recommended_batch, maximum_batch) = if on_cpu { (32, 256) } else { (1024, 8192) };
        Attributes {
            input: InputKind::Tokens,
            perspective: Perspective::White,
            embedding_dim: self.embedding_dim,
            recommended_batch,
            maximum_batch,
            fixed_sizes: !on_cpu,
        }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
        let encode = || -> candle_core::Result<Vec<f32>> {
            let ids = token_ids(tokens_of(inputs), &self.device)?;
            self.network.forward(&ids)?.flatten_all()?.to_vec1()
        };
        encode().map_err(device_error)
    }

    #[cfg(feature = "cuda")]
    fn begin(&mut self, inputs: &Inputs, axis: &Axis) -> Result<Scores> {
        let Some(on_gpu) = &mut self.on_gpu else {
            return Ok(Scores::Ready(axis.cosines(&self.encode(inputs)?)));
        };
        let mut begin = || {
            let direction = match &on_gpu.axis {
                Some(direction) => direction.clone(),
                None => Tensor::from_slice(axis.unit(), (axis.dim(), 1), &self.device)?,
            };
            on_gpu.axis = Some(direction.clone());
            let network = |ids: &Tensor| self.network.forward(ids)?.matmul(&direction);
            on_gpu.pipe.begin(tokens_of(inputs), network)
        };
        let coming = begin().map_err(device_error)?;
        Ok(Scores::Coming(Box::new(move || coming.wait().map_err(device_error))))
    }
}

fn tokens_of(inputs: &Inputs) -> &[Tokens] {
    let Inputs::Tokens(batch) = inputs else { unreachable!("the attributes ask for tokens") };
    batch
}

/// The error as callers tell it apart.
fn device_error(error: candle_core::Error) -> anyhow::Error {
    let error = without_backtrace(error);
    #[cfg(feature = "cuda")]
    if pipe::is_out_of_memory(&error) {
        return anyhow::Error::new(error).context(OutOfMemory);
    }
    error.into()
}
