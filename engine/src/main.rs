//! `azimuth`: the engine on standard input and output.

use std::process::ExitCode;

use azimuth::program;
use azimuth_cli::exit;

fn main() -> ExitCode {
    exit("azimuth", || program::run(std::env::args_os()))
}
