//! Launches of the kernels compiled for the CPU by the system's C++ compiler.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use std::process::Command;
use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError};

use candle_core::{CpuStorage, Result, Storage, bail};
use libloading::Library;

use super::launch::Launch;

type Emulate =
    unsafe extern "C" fn(*const c_char, *const u32, u32, u32, bool, *mut *mut c_void) -> bool;

/// The library keeps the coroutines of a kernel's threads in static variables, so only one kernel
/// runs at a time.
static KERNELS: LazyLock<Mutex<Library>> = LazyLock::new(|| Mutex::new(compile()));

thread_local! {
    /// Whether the threads of a block run in reverse order.
    pub static BACKWARDS: Cell<bool> = const { Cell::new(false) };
}

fn compile() -> Library {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fused/kernels");
    let folder = tempfile::tempdir().expect("a folder for the kernels");
    let library = folder.path().join("libkernels.so");
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let outcome = Command::new(&compiler)
        .args(["-std=c++20", "-O2", "-w", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(source.join("emulated.cpp"))
        .output();
    let outcome = outcome.unwrap_or_else(|error| {
        panic!("'{compiler}': {error}; install a C++ compiler (Debian: apt-get install g++)")
    });
    let errors = String::from_utf8_lossy(&outcome.stderr);
    assert!(outcome.status.success(), "'{compiler}' cannot compile the kernels:\n{errors}");
    // SAFETY: loading the library runs only C++'s own initialisers.
    unsafe { Library::new(library) }.expect("the library that was just compiled")
}

pub fn launch(launch: &Launch<'_>) -> Result<()> {
    let addresses = launch.tensors.iter().map(|tensor| address(tensor));
    let mut addresses = addresses.collect::<Result<Vec<_>>>()?;
    let (mut sizes, mut mask) = (launch.sizes.clone(), launch.mask);
    let mut places: Vec<*mut c_void> = addresses.iter_mut().map(place).collect();
    places.extend(sizes.iter_mut().map(place));
    places.extend(mask.iter_mut().map(place));
    let name = CString::new(launch.name.as_str()).map_err(candle_core::Error::wrap)?;
    let kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: `Emulate` is the signature in `emulated.cpp`. The arguments are those of the named
    // kernel, in its order, and the tensors outlive the call.
    let ran = unsafe {
        let emulate = kernels.get::<Emulate>(b"emulate").map_err(candle_core::Error::wrap)?;
        let (grid, block, shared) = (launch.grid.as_ptr(), launch.block, launch.shared as u32);
        emulate(name.as_ptr(), grid, block, shared, BACKWARDS.get(), places.as_mut_ptr())
    };
    if !ran {
        let Launch { name, dtype, shared, .. } = launch;
        bail!("no kernel '{name}' of {dtype:?} for {shared} bytes of shared memory");
    }
    Ok(())
}

fn place<T>(argument: &mut T) -> *mut c_void {
    ptr::from_mut(argument).cast()
}

fn address(tensor: &candle_core::Tensor) -> Result<*mut c_void> {
    let (storage, layout) = tensor.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { bail!("not on the CPU") };
    let first = match storage {
        CpuStorage::U8(values) => values[layout.start_offset()..].as_ptr().cast::<c_void>(),
        CpuStorage::U32(values) => values[layout.start_offset()..].as_ptr().cast(),
        CpuStorage::F32(values) => values[layout.start_offset()..].as_ptr().cast(),
        CpuStorage::F16(values) => values[layout.start_offset()..].as_ptr().cast(),
        CpuStorage::BF16(values) => values[layout.start_offset()..].as_ptr().cast(),
        _ => bail!("no kernel for {:?}", tensor.dtype()),
    };
    Ok(first.cast_mut())
}
