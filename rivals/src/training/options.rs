//! The options of `azimuth-rivals train`, and the optimisation schedule that they choose.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use azimuth_search::inference::Backend;
use azimuth_train::claim::{Claim, claim_all};
use azimuth_train::training::StepsOrTime;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::weights::check_sizes;

/// Most examples in a step.
const MOST_EXAMPLES: i64 = 16_384;

/// Sizes and plan of a rival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Trains on one core in less than an hour. The weights that ship have this preset.
    Small,
    /// The sizes in the rival's document.
    Document,
}

/// The options of a training run.
#[derive(Args, Clone)]
pub struct TrainOptions {
    /// Labelled games in any format that `azimuth-train data` reads, or its datasets (.azd).
    #[arg(long, required = true, num_args = 1..)]
    pub data: Vec<PathBuf>,
    /// Weights file to write; a log of held-out metrics (.jsonl) and a checkpoint (.checkpoint) are
    /// written beside it.
    #[arg(long)]
    pub out: PathBuf,
    /// Sizes, steps and learning rate.
    #[arg(long, value_enum, default_value_t = Preset::Document)]
    preset: Preset,
    /// Override one size of the preset, for example `blocks=4`; an unknown name lists the valid
    /// ones.
    #[arg(long = "size", value_name = "NAME=VALUE", value_parser = size)]
    sizes: Vec<(String, serde_json::Value)>,
    /// Number of optimiser steps [default: the preset's].
    #[arg(long)]
    steps: Option<u64>,
    /// Number of examples in a step, 1 to 16384 [default: the preset's].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=MOST_EXAMPLES))]
    batch: Option<u16>,
    /// Peak learning rate [default: the preset's].
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Time (90s, 5m) or steps (2000) between checkpoints.
    #[arg(long, default_value = "2m")]
    pub checkpoint_every: StepsOrTime,
    /// Stop after this time (90s, 5m) or number of steps (2000) and write a checkpoint; the same
    /// command resumes.
    #[arg(long)]
    pub stop_after: Option<StepsOrTime>,
    /// Seed of the initial parameters and of the sampling of examples.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Device to compute on.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub device: Backend,
}

impl TrainOptions {
    /// The checkpoint from which an interrupted run resumes.
    pub fn checkpoint(&self) -> PathBuf {
        self.out.with_extension("checkpoint")
    }

    /// The log of held-out metrics.
    pub fn log(&self) -> PathBuf {
        self.out.with_extension("jsonl")
    }

    /// Claims the run's files for this process before the data are read, so that a conflict is
    /// reported at once.
    pub fn claim(&self) -> Result<Vec<Claim>> {
        let inputs: Vec<&Path> = self.data.iter().map(PathBuf::as_path).collect();
        claim_all(&[&self.out, &self.checkpoint(), &self.log()], &inputs)
    }

    /// The sizes and the optimisation schedule: those of the preset, with the overrides applied.
    pub fn sizes_and_plan<T: Serialize + DeserializeOwned>(
        &self,
        document: (T, Plan),
        small: (T, Plan),
    ) -> Result<(T, Plan)> {
        let (sizes, plan) = match self.preset {
            Preset::Document => document,
            Preset::Small => small,
        };
        let mut config = serde_json::to_value(sizes)?;
        let named = config.as_object_mut().context("sizes have names")?;
        named.extend(self.sizes.iter().cloned());
        check_sizes("--size", &config)?;
        let plan = Plan {
            batch: self.batch.map_or(plan.batch, usize::from),
            steps: self.steps.unwrap_or(plan.steps).max(1),
            learning_rate: self.learning_rate.unwrap_or(plan.learning_rate),
            ..plan
        };
        Ok((serde_json::from_value(config).context("--size")?, plan))
    }
}

fn size(text: &str) -> Result<(String, serde_json::Value)> {
    let pair = text
        .split_once('=')
        .and_then(|(name, value)| Some((name.to_owned(), serde_json::from_str(value).ok()?)));
    pair.ok_or_else(|| anyhow!("expected NAME=VALUE, found '{text}'"))
}

/// The optimisation schedule.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of examples in a step.
    pub batch: usize,
    /// Number of optimiser steps.
    pub steps: u64,
    /// The peak learning rate: it rises linearly to this value and then falls to a hundredth of it.
    pub learning_rate: f64,
    /// AdamW's weight decay.
    pub weight_decay: f64,
    /// The largest gradient norm; longer gradients are scaled down to it.
    pub clip: Option<f64>,
}
