//! A transformer that encodes batches on the CPU.

use anyhow::Result;
use azimuth_chess::tokens::Tokens;
use azimuth_network::axis::Axis;
use azimuth_network::parameters::Parameters;
use azimuth_network::transformer::{Transformer, TransformerConfig, token_ids};
use azimuth_network::{InputKind, Inputs, Perspective};
use candle_core::{DType, Device};

use super::{Attributes, EncodeError, Encoder, Scores};

/// A transformer on the CPU.
#[derive(Clone)]
pub struct CpuTransformer {
    network: Transformer,
    axis: Axis,
}

impl CpuTransformer {
    /// Builds the network over `parameters` in precision `dtype`; f32 is the fastest. Cosines are
    /// with `axis`.
    pub fn new(
        config: &TransformerConfig,
        parameters: &Parameters,
        axis: &Axis,
        dtype: DType,
    ) -> Result<Self> {
        let network = Transformer::new(config, &parameters.to(&Device::Cpu, dtype)?)?;
        Ok(Self { network, axis: axis.clone() })
    }
}

impl Encoder for CpuTransformer {
    fn attributes(&self) -> Attributes {
        Attributes {
            input: InputKind::Tokens,
            perspective: Perspective::White,
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
pub(super) fn tokens_of(inputs: &Inputs) -> &[Tokens] {
    let Inputs::Tokens(batch) = inputs else { unreachable!("the attributes ask for tokens") };
    batch
}
