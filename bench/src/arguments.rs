//! Command-line arguments of several commands: the encoder's device, with the worker that runs the
//! encoder, and a file for the results.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth_cli::say;
use azimuth_network::replace_file::{check_output, replace_file};
use azimuth_network::weights::Weights;
use azimuth_search::inference::{Backend, Precision, Worker};
use candle_core::{DType, Device};
use clap::Args;
use serde::Serialize;

/// Device and precision of the encoder.
#[derive(Args, Clone, Copy)]
pub struct DeviceArguments {
    /// Device of the encoder; cuda needs a build with --features cuda.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
    /// Precision of the encoder's arithmetic; the CPU supports only f32.
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    precision: Precision,
}

impl DeviceArguments {
    /// Opens the device. Fails if the machine or build lacks it, or if it does not support the
    /// precision.
    pub fn open(self) -> Result<(Device, DType)> {
        let device = self.device.device().context("--device")?;
        let dtype = self.precision.dtype(&device).context("--precision")?;
        Ok((device, dtype))
    }
}

/// A worker that reports its notices on standard error.
pub fn start_worker(weights: Arc<Weights>, device: &Device, dtype: DType) -> Result<Worker> {
    Worker::start(weights, device, dtype, Box::new(notice))
}

/// Prints a worker's notice on standard error.
pub fn notice(text: &str) {
    say(format_args!("azimuth-bench: {text}"));
}

/// A file for the results.
#[derive(Args, Clone)]
pub struct JsonFile {
    /// Also write the results to this JSON file.
    #[arg(long)]
    pub json: Option<PathBuf>,
}

impl JsonFile {
    /// Fails if the file cannot be written, or is one of the `inputs`.
    pub fn check<P: AsRef<Path>>(&self, inputs: &[P]) -> Result<()> {
        let inputs: Vec<&Path> = inputs.iter().map(AsRef::as_ref).collect();
        self.json.iter().try_for_each(|path| check_output(path, &inputs))
    }

    pub fn write(&self, results: &impl Serialize) -> Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        replace_file(path, serde_json::to_string_pretty(results)?.as_bytes())
    }
}
