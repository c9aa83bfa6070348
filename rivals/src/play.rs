//! How a rival plays.

use anyhow::{Context, Result};
use azimuth_search::inference::Backend;
use candle_core::Device;
use clap::Args;

/// Maximum of `--remember`, in positions.
const MOST: u64 = 1 << 26;

/// The options of `azimuth-rivals play`.
#[derive(Args)]
pub struct PlayOptions {
    /// Device of the network; the rivals heuristic and nnue always use the CPU.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
    /// Number of positions whose results alpha-beta remembers (deepchess, heuristic, value, nnue);
    /// the documents' searches remember none.
    #[arg(
        long,
        value_name = "POSITIONS",
        default_value_t = 0,
        value_parser = clap::value_parser!(u64).range(..=MOST),
    )]
    remember: u64,
}

/// How a rival plays. The default is the documents' search on the CPU.
pub struct Play {
    /// The device of the network.
    pub device: Device,
    /// Number of positions that alpha-beta remembers.
    pub remembered: usize,
}

impl Default for Play {
    fn default() -> Self {
        Self { device: Device::Cpu, remembered: 0 }
    }
}

impl PlayOptions {
    /// Opens the device. Fails if it is a GPU and there is none.
    pub fn open(&self) -> Result<Play> {
        let device = self.device.device().context("--device")?;
        Ok(Play { device, remembered: usize::try_from(self.remember)? })
    }
}
