//! A transformer that encodes batches on a CUDA device, and the transfers to the device and back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use azimuth_chess::tokens::Tokens;
use azimuth_network::axis::Axis;
use azimuth_network::fused::Operations;
use azimuth_network::parameters::Parameters;
use azimuth_network::transformer::{
    LENGTH, Transformer, TransformerConfig, sequences_of, token_ids,
};
use azimuth_network::{InputKind, Inputs};
use candle_core::backend::BackendStorage;
use candle_core::cuda_backend::cudarc::cublas::sys::cublasStatus_t;
use candle_core::cuda_backend::cudarc::driver::sys::CUresult;
use candle_core::cuda_backend::cudarc::driver::{CudaEvent, CudaStream, PinnedHostSlice};
use candle_core::cuda_backend::{CudaError, WrapErr};
use candle_core::op::BackpropOp;
use candle_core::{
    CudaDevice, CudaStorage, DType, Device, Error, Result as CandleResult, Storage, Tensor, bail,
};

use super::{
    Attributes, EncodeError, Encoder, PendingScores, Scores, tokens_of, without_backtrace,
};

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

/// Transfers batches to one device, and scores back, asynchronously. Sequences are copied from
/// pinned memory on a separate stream, while the device computes the previous batch. Scores are
/// copied to pinned memory, and only a caller that reads them waits.
struct AsyncTransfer {
    device: CudaDevice,
    copies: Arc<CudaStream>,
    /// Pinned memory for reuse, by batch size; each batch in flight has its own.
    spare: Arc<Mutex<HashMap<usize, Vec<Pinned>>>>,
}

/// Host memory that the device reads and writes directly.
struct Pinned {
    ids: PinnedHostSlice<u8>,
    scores: PinnedHostSlice<f32>,
}

/// A batch in flight.
struct InFlight {
    pinned: Pinned,
    /// Completes when the scores have been copied.
    done: CudaEvent,
    spare: Arc<Mutex<HashMap<usize, Vec<Pinned>>>>,
    /// Kept until the device has read it, because it is freed on the stream of the copies.
    _ids: Tensor,
}

impl AsyncTransfer {
    /// Transfers to `device`.
    fn new(device: &CudaDevice) -> CandleResult<Self> {
        let copies = device.cuda_stream().context().new_stream().w()?;
        Ok(Self { device: device.clone(), copies, spare: Arc::default() })
    }

    /// Sends `batch` to the device and runs `network` on it, which computes one score (f32) per
    /// sequence.
    fn begin(
        &self,
        batch: &[Tokens],
        network: impl FnOnce(&Tensor) -> CandleResult<Tensor>,
    ) -> CandleResult<InFlight> {
        let mut pinned = self.pinned(batch.len())?;
        let to = pinned.ids.as_mut_slice().w()?;
        to.iter_mut().zip(sequences_of(batch)).for_each(|(to, id)| *to = id);
        // SAFETY: the copy fills the memory.
        let mut ids = unsafe { self.copies.alloc::<u8>(to.len()) }.w()?;
        self.copies.memcpy_htod(&pinned.ids, &mut ids).w()?;
        let copied = self.copies.record_event(None).w()?;
        let stream = self.device.cuda_stream();
        stream.wait(&copied).w()?;
        let storage = CudaStorage::wrap_cuda_slice(ids, self.device.clone());
        let shape = (batch.len(), LENGTH);
        let ids = Tensor::from_storage(Storage::Cuda(storage), shape, BackpropOp::none(), false);

        let scores = network(&ids)?.flatten_all()?;
        let (storage, _) = scores.storage_and_layout();
        let Storage::Cuda(storage) = &*storage else { bail!("the scores are not on the device") };
        debug_assert_eq!(storage.dtype(), candle_core::DType::F32);
        stream.memcpy_dtoh(storage.as_cuda_slice::<f32>()?, &mut pinned.scores).w()?;
        let done = stream.record_event(None).w()?;
        Ok(InFlight { pinned, done, spare: self.spare.clone(), _ids: ids })
    }

    fn pinned(&self, size: usize) -> CandleResult<Pinned> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pinned) = spare.get_mut(&size).and_then(Vec::pop) {
            return Ok(pinned);
        }
        let stream = self.device.cuda_stream();
        let context = stream.context();
        // SAFETY: sequences are written before they are read; the device writes the scores.
        unsafe {
            Ok(Pinned {
                ids: context.alloc_pinned(size * LENGTH).w()?,
                scores: context.alloc_pinned_with_flags(size, 0).w()?,
            })
        }
    }
}

impl InFlight {
    /// Waits for the scores.
    fn scores(self) -> CandleResult<Vec<f32>> {
        self.done.synchronize().w()?;
        let scores = self.pinned.scores.as_slice().w()?.to_vec();
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.entry(scores.len()).or_default().push(self.pinned);
        Ok(scores)
    }
}

impl PendingScores for InFlight {
    fn is_ready(&self) -> bool {
        // After an error, too, the device is done.
        !matches!(self.done.try_is_complete(), Ok(false))
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
