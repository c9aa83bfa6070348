//! Launches on a CUDA device.

use candle_core::backend::BackendStorage;
use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::driver::{
    CudaStream, DevicePtr, DeviceRepr, LaunchConfig, PushKernelArg, SyncOnDrop, sys,
};
use candle_core::{CudaDevice, CudaStorage, DType, Layout, Result, Storage, bail};
use half::{bf16, f16};

use super::launch::Launch;
use crate::fused::operations::DropoutMask;

mod ptx {
    #![allow(missing_docs, reason = "written by the build script")]
    include!(concat!(env!("OUT_DIR"), "/ptx.rs"));
}

/// Bytes of shared memory that a block may use by default.
const SHARED: usize = 48 << 10;

// SAFETY: plain numbers in C's layout, in the order of the kernels' declaration.
unsafe impl DeviceRepr for DropoutMask {}

pub fn max_shared_memory(device: &CudaDevice) -> Result<usize> {
    let most = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    Ok(device.cuda_stream().context().attribute(most).w()? as usize)
}

pub fn launch(launch: &Launch<'_>, device: &CudaDevice) -> Result<()> {
    let (module, ptx) = match launch.dtype {
        DType::F16 => ("azimuth f16", ptx::F16),
        DType::BF16 => ("azimuth bf16", ptx::BF16),
        _ => ("azimuth f32", ptx::F32),
    };
    let function = device.get_or_load_custom_func(&launch.name, module, ptx)?;
    if launch.shared > SHARED {
        let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(most, launch.shared as i32).w()?;
    }
    let stream = device.cuda_stream();
    let tensors: Vec<_> = launch.tensors.iter().map(|tensor| tensor.storage_and_layout()).collect();
    let mut addresses = Vec::with_capacity(tensors.len());
    for (storage, layout) in &tensors {
        let Storage::Cuda(storage) = &**storage else {
            bail!("{}: a tensor is not on the device", launch.name);
        };
        addresses.push(address(storage, layout, &stream)?);
    }
    let mut builder = function.builder();
    for (address, _) in &addresses {
        builder.arg(address);
    }
    for size in &launch.sizes {
        builder.arg(size);
    }
    if let Some(mask) = &launch.mask {
        builder.arg(mask);
    }
    let config = LaunchConfig {
        grid_dim: (launch.grid[0], launch.grid[1], 1),
        block_dim: (launch.block, 1, 1),
        shared_mem_bytes: launch.shared as u32,
    };
    // SAFETY: the arguments are those of the named kernel, in its order. The tensors outlive the
    // launch, because they are freed on the same stream.
    unsafe { builder.launch(config) }.w()?;
    Ok(())
}

/// Address of a tensor's first value.
fn address<'a>(
    storage: &'a CudaStorage,
    layout: &Layout,
    stream: &'a CudaStream,
) -> Result<(sys::CUdeviceptr, SyncOnDrop<'a>)> {
    let (first, guard) = match storage.dtype() {
        DType::U8 => storage.as_cuda_slice::<u8>()?.device_ptr(stream),
        DType::U32 => storage.as_cuda_slice::<u32>()?.device_ptr(stream),
        DType::F32 => storage.as_cuda_slice::<f32>()?.device_ptr(stream),
        DType::F16 => storage.as_cuda_slice::<f16>()?.device_ptr(stream),
        DType::BF16 => storage.as_cuda_slice::<bf16>()?.device_ptr(stream),
        other => bail!("no kernel for {other:?}"),
    };
    let bytes = layout.start_offset() * storage.dtype().size_in_bytes();
    Ok((first + bytes as sys::CUdeviceptr, guard))
}
