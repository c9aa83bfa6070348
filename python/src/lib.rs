//! `azimuth_chess._native`: the part of the Python package that is written in Rust. The package's
//! Python files (`python/azimuth_chess`) document it and check its arguments.

#![expect(clippy::needless_pass_by_value, reason = "PyO3 converts arguments into values")]

mod board;
mod compute;
mod dataset;
mod space;

use std::io;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// Runs the program `azimuth` with its command line, the program's name first. Returns its exit
/// code. A wrong command line, `--help` and `--version` end the process.
#[pyo3::pyfunction]
fn run_program(py: pyo3::Python<'_>, command_line: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| u8::from(azimuth_cli::fails("azimuth", azimuth::program::run(command_line))))
}

/// `OSError` or one of its subclasses if the system refused something, else `ValueError`. The
/// message is one line.
fn python_error(error: &anyhow::Error) -> PyErr {
    let message = format!("{error:#}");
    match error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()) {
        Some(refused) => io::Error::new(refused.kind(), message).into(),
        None => PyValueError::new_err(message),
    }
}

/// The module.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::board::check_board;
    #[pymodule_export]
    use super::dataset::NativeDataset;
    #[pymodule_export]
    use super::run_program;
    #[pymodule_export]
    use super::space::{NativeSpace, calibrated};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
