//! `azimuth`: the engine on standard input and output.

use std::process::ExitCode;

use azimuth::command_line::exit;
use azimuth::program;

fn main() -> ExitCode {
    exit("azimuth", program::run(std::env::args_os()))
}
