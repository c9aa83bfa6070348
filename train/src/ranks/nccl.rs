//! Sums of gradients directly between the GPUs of the ranks, by NVIDIA's library NCCL.

use anyhow::{Context, Result, anyhow};
use candle_core::cuda_backend::cudarc::nccl::safe::{Comm, Id, ReduceOp};
use candle_core::{CpuStorage, CudaDevice, CudaStorage, CustomOp1, Error, Layout, Shape, Tensor};

use super::{Ranks, from_first};

pub struct Nccl {
    comm: Comm,
}

impl Nccl {
    /// Connects the GPUs of all ranks, of which this one has `device`.
    pub fn connect(ranks: &dyn Ranks, device: &CudaDevice) -> Result<Self> {
        let id = if ranks.is_first() { Some(Id::new().map_err(failed)?) } else { None };
        let own: Vec<u8> = id.iter().flat_map(|id| id.internal()).map(|&c| c as u8).collect();
        let characters: Vec<_> = from_first(ranks, &own)?.into_iter().map(|c| c as _).collect();
        let internal = characters.try_into().ok().context("rank 0 sent no id of NCCL")?;
        let (stream, id) = (device.cuda_stream(), Id::uninit(internal));
        let comm = Comm::from_rank(stream, ranks.rank(), ranks.count(), id).map_err(failed)?;
        Ok(Self { comm })
    }

    /// The sum of the tensors `own` of all ranks, f32.
    pub fn sum(&self, own: &Tensor) -> Result<Tensor> {
        Ok(own.contiguous()?.apply_op1_no_bwd(self)?)
    }
}

fn failed(error: impl std::fmt::Debug) -> anyhow::Error {
    anyhow!("NCCL: {error:?}; the environment variable NCCL_DEBUG=WARN prints the cause")
}

impl CustomOp1 for Nccl {
    fn name(&self) -> &'static str {
        "sum over ranks"
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        Err(Error::Msg("NCCL sums on GPUs only".to_owned()))
    }

    fn cuda_fwd(
        &self,
        own: &CudaStorage,
        layout: &Layout,
    ) -> candle_core::Result<(CudaStorage, Shape)> {
        let (first, end) =
            layout.contiguous_offsets().ok_or(Error::RequiresContiguous { op: self.name() })?;
        let own_values = own.as_cuda_slice::<f32>()?.slice(first..end);
        // SAFETY: the sum overwrites all values.
        let mut sum = unsafe { own.device.alloc::<f32>(end - first)? };
        let done = self.comm.all_reduce(&own_values, &mut sum, &ReduceOp::Sum);
        done.map_err(|error| Error::Msg(failed(error).to_string()))?;
        Ok((CudaStorage::wrap_cuda_slice(sum, own.device.clone()), layout.shape().clone()))
    }
}
