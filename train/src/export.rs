//! The command `export`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::axis::{Axis, Direction};
use azimuth_network::replace_file::check_output;
use azimuth_network::weights::Weights;
use azimuth_search::inference::Backend;
use candle_core::{DType, Device};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::config::{Compute, Config};
use crate::options::DataOptions;
use crate::run::{State, write_weights};
use crate::space::calibrate;
use crate::training::Checkpoint;
use crate::{onnx, solis};

/// Convert trained parameters, or select the direction of a weights file.
#[derive(Args)]
pub struct ExportOptions {
    /// Checkpoint of a run, to write a weights file.
    #[arg(long, required_unless_present = "weights")]
    checkpoint: Option<PathBuf>,
    /// Weights file, to write an ONNX model, a checkpoint with the names of the paper's authors and
    /// the mean embeddings next to it, or a weights file with another --direction.
    #[arg(long, conflicts_with = "checkpoint")]
    weights: Option<PathBuf>,
    /// Direction of the axis of --weights, to which the calibration is fitted [default for a
    /// checkpoint: mates or fitted, whichever has the lower RMS error on the calibration games].
    #[arg(long, value_enum, requires = "weights", requires = "data")]
    direction: Option<AxisDirection>,
    /// Format to write.
    #[arg(long, value_enum, default_value_t = Format::Azimuth)]
    format: Format,
    /// File to write.
    #[arg(long)]
    out: PathBuf,
    /// Datasets, or files in any format that `data` reads, to fit the axis and the calibration;
    /// required to write a weights file.
    #[arg(long, required_unless_present = "weights", num_args = 1..)]
    data: Vec<PathBuf>,
    /// Approximate number of positions for each of the directions, the calibration and the metrics
    /// [default: 1,000,000; 2,000 for a transformer on the CPU].
    #[arg(long)]
    sample: Option<usize>,
    /// Device to compute on.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
    /// Precision of the stored and measured parameters; 16 bits halve the file. The rounding of f16
    /// is finer than that of a sparse encoder's rows in play; bf16 has the range of f32 and 8 bits of
    /// precision.
    #[arg(long, default_value = "f32", value_parser = stored_types())]
    stored: DType,
}

/// The types of stored parameters.
pub fn stored_types() -> impl TypedValueParser<Value = DType> {
    PossibleValuesParser::new(["f32", "f16", "bf16"]).try_map(|name| name.parse::<DType>())
}

/// Formats of trained parameters.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A weights file for the engine.
    Azimuth,
    /// A PyTorch checkpoint with the names of the paper's authors (.pth).
    Solis,
    /// An ONNX model of a transformer (.onnx): from tokens to embeddings.
    Onnx,
}

/// The possible directions of the axis.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AxisDirection {
    /// Mean of the positions that mate minus mean of those that are mated (the paper).
    Mates,
    /// Mean of the positions that mate (the authors' published code).
    Nearest,
    /// The direction fitted to the win probability.
    Fitted,
}

impl ExportOptions {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let inputs = self.checkpoint.iter().chain(&self.weights).chain(&self.data);
        check_output(&self.out, &inputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
        let fits = self.stored == DType::F32 || self.format == Format::Azimuth;
        ensure!(fits, "--stored: other formats than weights files have 32 bits");
        ensure!(
            self.direction.is_none() || self.format == Format::Azimuth,
            "--direction: only weights files store one; export the weights file with it first"
        );
        match (&self.weights, &self.checkpoint, self.format) {
            (Some(weights), _, Format::Onnx) => onnx::export(&Weights::read(weights)?, &self.out),
            (Some(weights), _, Format::Solis) => solis::export(&Weights::read(weights)?, &self.out),
            (None, Some(checkpoint), Format::Azimuth) => self.weights_of(checkpoint),
            (Some(weights), _, Format::Azimuth) => self.along_direction(weights),
            (None, ..) => {
                anyhow::bail!("--format: export a weights file first, then give it by --weights")
            }
        }
    }

    fn data(&self) -> DataOptions {
        DataOptions { data: self.data.clone(), sample: self.sample }
    }

    fn along_direction(&self, path: &Path) -> Result<()> {
        let direction = self.direction.context(
            "--weights: it is a weights file already; --format onnx or solis converts it, --direction \
             selects its axis",
        )?;
        let mut weights = Weights::read(path)?;
        let device = self.device.device().context("--device")?;
        let data = self.data().read(&weights.metadata.architecture, &device)?;
        weights.metadata.direction = match direction {
            AxisDirection::Mates => Direction::Mates,
            AxisDirection::Nearest => Direction::Nearest,
            AxisDirection::Fitted => Direction::Fitted,
        };
        let Axis { white_mean, black_mean, fitted, .. } = weights.axis;
        weights.axis = Axis::new(white_mean, black_mean, fitted, weights.metadata.direction)
            .with_context(|| format!("weights file '{}'", path.display()))?;
        weights.parameters = weights.parameters.to(&Device::Cpu, self.stored)?;
        print_line(serde_json::to_string(&calibrate(&mut weights, &data, &device)?)?)?;
        weights.write(&self.out)?;
        say(format_args!("wrote '{}'", self.out.display()));
        Ok(())
    }

    fn weights_of(&self, checkpoint: &Path) -> Result<()> {
        let missing = || format!("checkpoint '{}' does not exist", checkpoint.display());
        let checkpoint = Checkpoint::read(checkpoint)?.with_context(missing)?;
        let config = Config::of(&checkpoint)?;
        let device = self.device.device().context("--device")?;
        let data = self.data().read(&config.architecture, &device)?;
        let compute = Compute { device, dtype: DType::F32 };
        let mut state = State::new(&config, &compute)?;
        state.restore(&config, &checkpoint)?;
        let parameters = state.playing()?.to(&Device::Cpu, self.stored)?;
        let (device, step) = (&compute.device, checkpoint.step);
        let measured = write_weights(&config, parameters, &data, device, step, &self.out)?;
        print_line(serde_json::to_string(&measured)?)?;
        Ok(())
    }
}
