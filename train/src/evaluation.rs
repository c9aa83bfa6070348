//! The command `eval`: measures a weights file on labelled positions.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use azimuth_cli::print_line;
use azimuth_search::DefaultWeights;
use azimuth_search::inference::Backend;
use candle_core::DType;
use clap::Args;
use serde::Serialize;

use crate::data::dataset::{open, read_splits};
use crate::data::family::Split;
use crate::metrics::Metrics;
use crate::move_choice::{self, MoveChoices};
use crate::options::DataOptions;
use crate::space;

/// Measure a weights file on the held-out games of data files. Positions whose moves are all
/// labelled also measure the choice of a move.
#[derive(Args)]
pub struct EvalOptions {
    /// Weights file [default: the default weights of the beam].
    #[arg(long)]
    weights: Option<PathBuf>,
    #[command(flatten)]
    data: DataOptions,
    /// Measure all games, not only the held-out ones (for data that was not trained on).
    #[arg(long)]
    all: bool,
    /// Measure the labels of these datasets instead of weights, for example those of a shallower
    /// search. They must label the same positions. Only the choice of a move is measured.
    #[arg(long, num_args = 1.., conflicts_with_all = ["weights", "device"])]
    labels: Vec<PathBuf>,
    /// Print the result as one line of JSON at the end.
    #[arg(long)]
    json: bool,
    /// Device to compute on.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
}

#[derive(Serialize)]
struct Evaluation {
    #[serde(flatten)]
    metrics: Option<Metrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    move_choice: Option<MoveChoices>,
}

impl EvalOptions {
    /// Measures and prints the metrics.
    pub fn run(&self) -> Result<()> {
        let weights = DefaultWeights::Beam.or_read(self.weights.as_deref())?;
        let architecture = &weights.metadata.architecture;
        let device = self.device.device().context("--device")?;
        let limit = self.data.sample_size(architecture, &device)?;
        let splits = if self.all { &Split::ALL[..] } else { &[Split::HeldOut] };
        let (data, _) = open(&self.data.data)?;
        let choices = move_choice::read(&data, splits, limit)?;
        let (metrics, scores) = if self.labels.is_empty() {
            let positions = read_splits(&data, splits, limit)?;
            ensure!(!positions.is_empty(), "--data: no game is held out; --all measures all games");
            let mut encoder = azimuth_search::encoder::build(&weights, &device, DType::F32)?;
            let metrics = space::evaluate(&mut *encoder, &weights, &positions)?;
            (Some(metrics), move_choice::scores(&mut *encoder, &weights, &choices)?)
        } else {
            ensure!(!choices.is_empty(), "--data: no position has labels for all its moves");
            (None, move_choice::scores_of_labels(&self.labels, &choices)?)
        };
        let move_choice = MoveChoices::of(&choices, &scores);
        if let Some(metrics) = &metrics {
            print_line(metrics)?;
        }
        if let Some(move_choice) = &move_choice {
            print_line(move_choice)?;
        }
        if self.json {
            print_line(serde_json::to_string(&Evaluation { metrics, move_choice })?)?;
        }
        Ok(())
    }
}
