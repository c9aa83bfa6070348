//! Where the encoder runs, as command-line arguments, and the worker that runs it.

use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth::inference::{Backend, Precision, Worker};
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};
use clap::Args;

/// Device and precision of the encoder.
#[derive(Args, Clone, Copy)]
pub struct DeviceArguments {
    /// Where the encoder runs; cuda needs a build with --features cuda.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
    /// Precision of its numbers; on the CPU f32 only.
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    precision: Precision,
}

impl DeviceArguments {
    /// Opens the device. Fails where this machine or build lacks it, or it lacks the precision.
    pub fn open(self) -> Result<(Device, DType)> {
        let device = self.device.device().context("--device")?;
        let dtype = self.precision.dtype(&device).context("--precision")?;
        Ok((device, dtype))
    }
}

/// A worker that says what a user should know on standard error.
pub fn start_worker(weights: Arc<Weights>, device: &Device, dtype: DType) -> Result<Worker> {
    Worker::start(weights, device, dtype, Box::new(notice))
}

/// Says on standard error what a worker has to say.
pub fn notice(text: &str) {
    eprintln!("azimuth-bench: {text}");
}
