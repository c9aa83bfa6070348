//! Asynchronous transfers of batches to a CUDA device and of scores back. Sequences are copied from
//! pinned memory on a separate stream, while the device computes the previous batch. Scores are
//! copied to pinned memory, and only a caller that reads them waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::backend::BackendStorage;
use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::driver::{CudaEvent, CudaStream, PinnedHostSlice};
use candle_core::op::BackpropOp;
use candle_core::{CudaDevice, CudaStorage, Result, Storage, Tensor, bail};

use azimuth_chess::tokens::Tokens;
use azimuth_network::transformer::LENGTH;
use azimuth_network::transformer::sequences_of;

/// Transfers batches to one device.
pub struct AsyncTransfer {
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
pub struct InFlight {
    pinned: Pinned,
    /// Completes when the scores have been copied.
    done: CudaEvent,
    spare: Arc<Mutex<HashMap<usize, Vec<Pinned>>>>,
    /// Kept until the device has read it, because it is freed on the stream of the copies.
    _ids: Tensor,
}

impl AsyncTransfer {
    /// Transfers to `device`.
    pub fn new(device: &CudaDevice) -> Result<Self> {
        let copies = device.cuda_stream().context().new_stream().w()?;
        Ok(Self { device: device.clone(), copies, spare: Arc::default() })
    }

    /// Sends `batch` to the device and runs `network` on it, which computes one score (f32) per
    /// sequence.
    pub fn begin(
        &self,
        batch: &[Tokens],
        network: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<InFlight> {
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

    fn pinned(&self, size: usize) -> Result<Pinned> {
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
    /// Whether the device has finished the batch, with or without an error.
    pub fn is_done(&self) -> bool {
        !matches!(self.done.try_is_complete(), Ok(false))
    }

    /// Waits for the scores.
    pub fn scores(self) -> Result<Vec<f32>> {
        self.done.synchronize().w()?;
        let scores = self.pinned.scores.as_slice().w()?.to_vec();
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.entry(scores.len()).or_default().push(self.pinned);
        Ok(scores)
    }
}
