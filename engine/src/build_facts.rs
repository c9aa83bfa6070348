//! Facts about the build of the program.

use crate::encoder::sparse::Kernels;

/// The commit it was built from, where the build named it.
const COMMIT: Option<&str> = option_env!("AZIMUTH_COMMIT");

/// A program's name and version with the licence.
pub fn about(name: &str) -> String {
    format!("{name}, {}", env!("CARGO_PKG_LICENSE"))
}

/// The commit where it is known, the compiler, the target, and the instruction set that the encoder runs on, a line each.
pub fn lines() -> Vec<String> {
    let commit = COMMIT.map(|commit| format!("Commit: {commit}"));
    let kernels = match Kernels::chosen() {
        Ok(kernels) => kernels.to_string(),
        Err(error) => format!("{error:#}"),
    };
    let facts = [
        format!("Compiler: {}", env!("AZIMUTH_COMPILER")),
        format!("Target: {}", env!("AZIMUTH_TARGET")),
        format!("Instruction set: {kernels}"),
    ];
    commit.into_iter().chain(facts).collect()
}
