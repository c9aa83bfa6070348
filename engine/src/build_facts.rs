//! Facts about this build of the program.

use crate::encoder::sparse::Kernels;

/// The commit that the program was built from, if the build set it.
const COMMIT: Option<&str> = option_env!("AZIMUTH_COMMIT");

/// A program's name, version and licence.
pub fn about(name: &str) -> String {
    format!("{name}, {}", env!("CARGO_PKG_LICENSE"))
}

/// Lines with the commit (if known), the compiler, the target, and the instruction set that the
/// encoder uses.
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
