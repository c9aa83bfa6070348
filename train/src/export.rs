//! The command `export`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth::inference::Backend;
use azimuth_network::replace_file::check_output;
use azimuth_network::weights::Weights;
use clap::{Args, ValueEnum};

use crate::config::Config;
use crate::options::{DataOptions, Stored};
use crate::training::Checkpoint;
use crate::{run, solis};

/// Convert trained parameters.
#[derive(Args)]
pub struct ExportOptions {
    /// Checkpoint of a run (for a weights file).
    #[arg(long, required_unless_present = "weights")]
    checkpoint: Option<PathBuf>,
    /// Weights file (for a checkpoint of the paper's authors); the mean embeddings are written next
    /// to it.
    #[arg(long, conflicts_with = "checkpoint", requires = "format")]
    weights: Option<PathBuf>,
    /// Format to write.
    #[arg(long, value_enum, default_value_t = Format::Azimuth)]
    format: Format,
    /// File to write.
    #[arg(long)]
    out: PathBuf,
    /// Datasets, or files in any format that `data` reads; required for a weights file, to fit its
    /// axis and calibration.
    #[arg(long, required_unless_present = "weights", num_args = 1..)]
    data: Vec<PathBuf>,
    /// Approximate number of positions for each of the directions, the calibration and the metrics
    /// [default: 1,000,000; 2,000 for a transformer on the CPU].
    #[arg(long)]
    sample: Option<usize>,
    /// Device to compute on.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
    /// Precision of the stored and measured parameters; 16 bits halve the file.
    #[arg(long, value_enum, default_value_t = Stored::F32)]
    stored: Stored,
}

/// Formats of trained parameters.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A weights file for the engine.
    Azimuth,
    /// A PyTorch checkpoint with the names of the paper's authors (.pth).
    Solis,
}

impl ExportOptions {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let inputs = self.checkpoint.iter().chain(&self.weights).chain(&self.data);
        check_output(&self.out, &inputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
        match (&self.weights, &self.checkpoint, self.format) {
            (Some(weights), _, Format::Solis) => solis::export(&Weights::read(weights)?, &self.out),
            (None, Some(checkpoint), Format::Azimuth) => self.weights_of(checkpoint),
            (Some(_), ..) => anyhow::bail!(
                "--weights: it is a weights file already; --format solis makes a checkpoint of it"
            ),
            (None, ..) => anyhow::bail!(
                "--format solis: export a weights file first, then give it by --weights"
            ),
        }
    }

    fn weights_of(&self, checkpoint: &Path) -> Result<()> {
        let missing = || format!("checkpoint '{}' does not exist", checkpoint.display());
        let state = Checkpoint::read(checkpoint)?.with_context(missing)?;
        let (config, device) = (Config::of(&state)?, self.device.device().context("--device")?);
        let data = DataOptions { data: self.data.clone(), sample: self.sample };
        let data = data.read(&config.architecture, &device)?;
        run::export(&config, &state, &data, &device, self.stored.dtype(), &self.out)
    }
}
