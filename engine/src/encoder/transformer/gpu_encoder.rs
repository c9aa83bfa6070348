//! A transformer that encodes batches on a CUDA device.

use std::sync::Arc;

use anyhow::Result;
use azimuth_network::axis::Axis;
use azimuth_network::fused::Operations;
use azimuth_network::parameters::Parameters;
use azimuth_network::transformer::{Transformer, TransformerConfig, token_ids};
use azimuth_network::{InputKind, Inputs, Perspective};
use candle_core::cuda_backend::CudaError;
use candle_core::cuda_backend::cudarc::cublas::sys::cublasStatus_t;
use candle_core::cuda_backend::cudarc::driver::sys::CUresult;
use candle_core::{DType, Device, Error, Tensor};

use super::async_transfer::{AsyncTransfer, InFlight};
use super::cpu_encoder::tokens_of;
use crate::encoder::{Attributes, EncodeError, Encoder, PendingScores, Scores, without_backtrace};

/// A transformer on a GPU.
pub struct GpuTransformer {
    network: Transformer,
    embedding_dim: usize,
    device: Device,
    transfer: Arc<AsyncTransfer>,
    /// The axis, (D, 1).
    axis: Tensor,
}

impl GpuTransformer {
    /// Moves `parameters` to `device` in precision `dtype`. Cosines are with `axis`.
    pub fn new(
        config: &TransformerConfig,
        parameters: &Parameters,
        axis: &Axis,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let network = Transformer::new(config, &parameters.to(device, dtype)?)?;
        let transfer = Arc::new(AsyncTransfer::new(device.as_cuda_device()?)?);
        let embedding_dim = config.embedding_dim;
        let axis = Tensor::from_slice(axis.unit(), (axis.dim(), 1), device)?;
        Ok(Self { network, embedding_dim, device: device.clone(), transfer, axis })
    }
}

impl Encoder for GpuTransformer {
    fn attributes(&self) -> Attributes {
        Attributes {
            input: InputKind::Tokens,
            perspective: Perspective::White,
            embedding_dim: self.embedding_dim,
            recommended_batch: 1024,
            maximum_batch: 8192,
            fixed_sizes: true,
        }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>, EncodeError> {
        let encode = || {
            let ids = token_ids(tokens_of(inputs), &self.device)?;
            self.network.forward(&ids)?.flatten_all()?.to_vec1()
        };
        encode().map_err(device_error)
    }

    fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
        let network = |ids: &Tensor| self.network.forward(ids)?.matmul(&self.axis);
        let in_flight = self.transfer.begin(tokens_of(inputs), network);
        Ok(Scores::Pending(Box::new(in_flight.map_err(device_error)?)))
    }

    fn composed(&self) -> Option<Box<dyn Encoder>> {
        Some(Box::new(Self {
            network: self.network.with(Operations::Composed),
            embedding_dim: self.embedding_dim,
            device: self.device.clone(),
            transfer: self.transfer.clone(),
            axis: self.axis.clone(),
        }))
    }
}

impl PendingScores for InFlight {
    fn is_ready(&self) -> bool {
        self.is_done()
    }

    fn wait(self: Box<Self>) -> Result<Vec<f32>, EncodeError> {
        self.scores().map_err(device_error)
    }
}

fn device_error(error: Error) -> EncodeError {
    let error = without_backtrace(error);
    let short = is_out_of_memory(&error);
    let error = anyhow::Error::new(error);
    if short { EncodeError::OutOfMemory(error) } else { EncodeError::Failed(error) }
}

fn is_out_of_memory(error: &Error) -> bool {
    match error {
        Error::Context { inner, .. } => is_out_of_memory(inner),
        Error::Cuda(error) => match error.downcast_ref() {
            Some(CudaError::Cuda(error)) => error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            Some(CudaError::Cublas(error)) => error.0 == cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED,
            _ => false,
        },
        _ => false,
    }
}
