//! Where the encoder runs, as command-line arguments.

use anyhow::{Context, Result, bail};
use azimuth::inference::cuda;
use candle_core::{DType, Device};
use clap::{Args, ValueEnum};

/// Device and precision of the encoder.
#[derive(Args, Clone, Copy)]
pub struct DeviceArguments {
    /// Where the encoder runs; cuda needs a build with --features cuda.
    #[arg(long, value_enum, default_value_t = DeviceName::Cpu)]
    pub device: DeviceName,
    /// Precision of its numbers; on the CPU f32 only.
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    pub precision: Precision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceName {
    Cpu,
    Cuda,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    F32,
    F16,
    Bf16,
}

impl DeviceArguments {
    /// Opens the device. Fails where this machine or build lacks it.
    pub fn open(self) -> Result<(Device, DType)> {
        let dtype = self.precision.dtype();
        let device = match self.device {
            DeviceName::Cpu if dtype != DType::F32 => bail!("on the CPU, --precision is f32"),
            DeviceName::Cpu => Device::Cpu,
            DeviceName::Cuda => cuda().context("--device cuda")?,
        };
        Ok((device, dtype))
    }

    /// The precision as results name it.
    pub fn precision_name(self) -> String {
        format!("{:?}", self.precision).to_lowercase()
    }
}

impl Precision {
    pub fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
            Self::Bf16 => DType::BF16,
        }
    }
}
