//! The command `azimuth` of the Python package.

use std::ffi::OsString;

use azimuth::program;
use azimuth_cli::fails;
use pyo3::prelude::*;

/// Runs the program `azimuth` with its command line, the program's name first. Returns its exit
/// code. A wrong command line, `--help` and `--version` end the process.
#[pyfunction]
pub fn run_program(py: Python<'_>, command_line: Vec<OsString>) -> u8 {
    py.detach(|| u8::from(fails("azimuth", program::run(command_line))))
}
