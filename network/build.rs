//! Compiles the CUDA kernels if the feature `cuda` is on.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    cuda::compile();
}

#[cfg(feature = "cuda")]
mod cuda {
    use std::env;
    use std::path::PathBuf;

    const KERNELS: &str = "src/fused/kernels";

    /// Compiles the kernels to PTX and writes the build's `ptx.rs`, with one constant per file.
    pub fn compile() {
        println!("cargo::rerun-if-changed={KERNELS}");
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
        cudaforge::KernelBuilder::new()
            .source_files(["f32", "f16", "bf16"].map(|name| format!("{KERNELS}/{name}.cu")))
            .args(["-std=c++17", "-O3"])
            .build_ptx()
            .and_then(|kernels| kernels.write(out.join("ptx.rs")))
            .expect("nvcc compiles the kernels; `scripts/with-cuda` lays out a toolkit");
    }
}
