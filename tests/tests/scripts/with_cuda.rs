//! `scripts/with-cuda`: it uses the driver if there is one, with or without `nvidia-smi`.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use azimuth_tests::{printed, root, text};

/// The library path of a command that the script runs. The toolkit in the repository counts as
/// complete.
fn library_path(repository: &Path, before: &str) -> Result<String> {
    let output = Command::new(repository.join("scripts/with-cuda"))
        .args(["printenv", "LD_LIBRARY_PATH"])
        .env_remove("CUDA_HOME")
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LD_LIBRARY_PATH", before)
        .output()?;
    printed(output)
}

#[test]
fn the_stub_stays_behind_a_driver() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let repository = folder.path();
    fs::create_dir(repository.join("scripts"))?;
    fs::copy(root().join("scripts/with-cuda"), repository.join("scripts/with-cuda"))?;
    let cuda = repository.join(".cuda/lib/python3.11/site-packages/nvidia/cu13");
    fs::create_dir_all(cuda.join("lib/stubs"))?;
    fs::write(repository.join(".cuda/complete"), "")?;

    let driver = repository.join("driver");
    fs::create_dir(&driver)?;
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let built = Command::new(compiler)
        .args(["-x", "c++", "-shared", "-fPIC", "-o", &text(&driver.join("libcuda.so.1"))])
        .arg("/dev/null")
        .status();
    ensure!(built.context("a C++ compiler; run make test")?.success(), "no library was built");
    let with_driver = library_path(repository, &text(&driver))?;
    assert!(with_driver.contains("cu13/lib:") && !with_driver.contains("stubs"), "{with_driver}");

    // Without a driver the stub is used, unless this machine has a driver itself.
    let load = "import ctypes; ctypes.CDLL('libcuda.so.1')";
    let installed = Command::new("python3").args(["-c", load]).output()?.status.success();
    let without = library_path(repository, "")?;
    assert_eq!(without.contains("stubs"), !installed, "{without}");
    Ok(())
}
