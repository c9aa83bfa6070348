//! Notes what the program is built with, for `compiler` and `--version`.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A release build names its commit. Asking git would rebuild the engine after each commit.
    println!("cargo::rerun-if-env-changed=AZIMUTH_COMMIT");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    let version = version.ok().filter(|output| output.status.success());
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.as_deref().map_or("an unknown compiler", str::trim);
    println!("cargo::rustc-env=AZIMUTH_COMPILER={version}");
    let target = env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=AZIMUTH_TARGET={target}");
}
