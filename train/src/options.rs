//! Command-line options of a training run.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use azimuth_cli::say;
use azimuth_network::Architecture;
use azimuth_network::sparse::SparseConfig;
use azimuth_network::sparse::features::FeatureSet;
use azimuth_network::transformer::TransformerConfig;
use azimuth_search::inference::{Backend, Precision};
use candle_core::{DType, Device};
use clap::{ArgMatches, Args, Command, ValueEnum};
use toml::Table;

use crate::beginning::Origin;
use crate::claim::{Claim, claim_all};
use crate::config::{self, Compute, Config};
use crate::data::dataset::Dataset;
use crate::data::family::Split;
use crate::data::sampler::Sampling;
use crate::loss::{Losses, PositiveThreshold};
use crate::optimizer::{OptimizerKind, Schedule};
use crate::run::Output;
use crate::training::Pace;

/// Number of positions that a transformer on the CPU embeds in less than a minute.
pub const SLOW_SAMPLE: usize = 2_000;

/// Number of positions that is enough for three digits of any metric, and whose embeddings fit in
/// memory.
const SAMPLE: usize = 1_000_000;

/// Limits of the default interval of validations, in steps. A validation can take as long as
/// hundreds of steps.
const VALIDATE_EVERY: [u64; 2] = [100, 10_000];

/// The longest interval of log lines that is a default, in steps.
const MOST_LOG_EVERY: u64 = 100;

/// The longest warm-up that is a default, in steps.
const MOST_WARMUP: u64 = 500;

/// The data to train on.
#[derive(Args)]
pub struct DataOptions {
    /// Datasets (.azd), which are memory-mapped, or files in any format that `data` reads, which
    /// are packed into a temporary dataset without duplicates.
    #[arg(long, required = true, num_args = 1..)]
    pub data: Vec<PathBuf>,
    /// Approximate number of positions for each of the directions, the calibration and the metrics
    /// [default: 1,000,000; 2,000 for a transformer on the CPU].
    #[arg(long)]
    pub sample: Option<usize>,
}

/// A training run.
#[derive(Args)]
pub struct TrainOptions {
    /// TOML file of options, with their long names as keys. Options of the command line override
    /// those of the file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The options that were parsed, for the file beside the weights; empty if unknown.
    #[arg(skip)]
    parsed: Table,
    /// The data to train on.
    #[command(flatten)]
    pub data: DataOptions,
    /// Weights file to write; a log (.jsonl) and the options of the run (.toml) are written next to
    /// it.
    #[arg(long)]
    pub out: PathBuf,
    /// The encoder to train.
    #[arg(long, value_enum, default_value_t = EncoderKind::Sparse)]
    encoder: EncoderKind,
    /// Initialise from the parameters of a weights file instead of random values. Its sizes must be
    /// given too; more king buckets may replace fewer or king-mirror, attackers may be added, and
    /// --accumulator may be larger.
    #[arg(long, value_name = "WEIGHTS")]
    from: Option<PathBuf>,
    /// Input features of the sparse encoder: piece-square or exchange-states-16,
    /// optionally followed by '+' and king-mirror, king-buckets-4, king-buckets-10, threats,
    /// attackers.
    #[arg(long, default_value = "exchange-states-16+threats+king-mirror")]
    features: FeatureSet,
    /// Width of the feature accumulator of one side (sparse encoder).
    #[arg(long, default_value_t = 256)]
    accumulator: usize,
    /// Dimension of the embedding [default: 64; that of the size for mini, small and base].
    #[arg(long)]
    embedding_dim: Option<usize>,
    /// Number of copies of the layers after the accumulator, selected by the number of pieces
    /// (sparse encoder); number of attention heads (transformer) [default: 1; that of the size for
    /// mini, small and base].
    #[arg(long)]
    heads: Option<usize>,
    /// Number of layers (transformer) [default: that of mini, small or base].
    #[arg(long)]
    layers: Option<usize>,
    /// Width of a token, a multiple of --heads (transformer) [default: that of mini, small or
    /// base].
    #[arg(long)]
    hidden: Option<usize>,
    /// Width of the feed-forward layers (transformer) [default: that of mini, small or base].
    #[arg(long)]
    mlp: Option<usize>,
    /// Number of layers of 32 neurons between the hidden layer and the embedding (sparse encoder).
    #[arg(long, default_value_t = 0)]
    middle_layers: usize,
    /// Number of anchors in a batch; an epoch uses every position once as an anchor (the paper:
    /// 128).
    #[arg(long, default_value_t = 1024)]
    anchors: usize,
    /// Number of further positions with a similar label for each anchor (the paper: 5).
    #[arg(long, default_value_t = 0)]
    positives: usize,
    /// Number of parts of a batch, each with a separate contrastive loss. Threads compute the parts
    /// in parallel, and the ranks of mpirun divide them among themselves. A device computes its
    /// parts together; there, parts of 1024 positions are enough for the sparse encoder.
    #[arg(long, default_value_t = 1)]
    parts: usize,
    /// Difference of win probability below which two positions are positives.
    #[arg(long, default_value_t = 0.05)]
    delta: f32,
    /// This difference for equal positions; it grows to delta for decided positions [default:
    /// delta, as in the paper].
    #[arg(long)]
    delta_equal: Option<f32>,
    /// Temperature of the contrastive loss.
    #[arg(long, default_value_t = 0.07)]
    temperature: f32,
    /// Weight of the contrastive loss (the paper: 1).
    #[arg(long, default_value_t = 1.0)]
    contrastive: f32,
    /// Weight of the regression of the win probability from the embedding (the paper: 0).
    #[arg(long, default_value_t = 100.0)]
    regression: f32,
    /// Weight of the regression of the win probability from the cosine (the paper: 0).
    #[arg(long, default_value_t = 0.0)]
    cosine: f32,
    /// Optimiser (the paper: sgd).
    #[arg(long, value_enum, default_value_t = OptimizerKind::Adamw)]
    optimizer: OptimizerKind,
    /// Peak learning rate [default: 0.002 for AdamW, 0.05 for SGD].
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Number of steps of linear warm-up (AdamW) [default: a tenth of --steps, at most 500].
    #[arg(long)]
    warmup: Option<u64>,
    /// Decoupled weight decay (AdamW).
    #[arg(long, default_value_t = 0.0)]
    weight_decay: f64,
    /// Clip the gradient to this norm.
    #[arg(long)]
    clip: Option<f64>,
    /// Dropout probability (transformer).
    #[arg(long, default_value_t = 0.1)]
    dropout: f32,
    /// Do not mirror positions left to right at random (sparse encoder).
    #[arg(long)]
    no_mirror: bool,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of optimiser steps. A larger number continues a run that is complete or was stopped.
    /// From there on, the learning rate is that of a run of this number of steps.
    #[arg(long)]
    steps: u64,
    /// Stop after this number of validations without an improvement in the RMS error on the
    /// calibration games, and keep the best parameters.
    #[arg(long)]
    patience: Option<u64>,
    /// Number of steps between validations on the held-out games [default: a fifth of --steps, from
    /// 100 to 10,000].
    #[arg(long)]
    validate_every: Option<u64>,
    /// Number of steps between log lines with the losses, the learning rate and the speed [default:
    /// a tenth of --steps, from 1 to 100].
    #[arg(long)]
    log_every: Option<u64>,
    /// Device to compute on.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub device: Backend,
    /// Precision of a transformer's network: auto is bf16 on CUDA and f32 on the CPU. The
    /// parameters are always updated in f32.
    #[arg(long, value_enum, default_value_t = Precision::Auto)]
    precision: Precision,
    /// Also write the log for TensorBoard: event files in a subfolder of this folder. The subfolder
    /// has the name of the weights file, and TensorBoard shows it as a run.
    #[arg(long, value_name = "FOLDER")]
    tensorboard: Option<PathBuf>,
    /// Checkpoint file [default: the name of the weights file with the extension `.checkpoint`].
    #[arg(long)]
    checkpoint: Option<PathBuf>,
    #[command(flatten)]
    pace: Pace,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EncoderKind {
    Sparse,
    Mini,
    Small,
    Base,
}

impl DataOptions {
    /// Reads the data, and prints the numbers of positions. Without `--sample`, the sample is
    /// smaller for a transformer on the CPU, which embeds positions slowly.
    pub fn read(&self, architecture: &Architecture, device: &Device) -> Result<Dataset> {
        let dataset = self.read_silently(architecture, device)?;
        say(format_args!(
            "{} training positions, {} for the calibration, {} for validation",
            dataset.all.len(Split::Training),
            dataset.calibration.positions.len(),
            dataset.validation.positions.len()
        ));
        Ok(dataset)
    }

    /// Like [`Self::read`], without a message.
    pub fn read_silently(&self, architecture: &Architecture, device: &Device) -> Result<Dataset> {
        Dataset::read(&self.data, self.sample_size(architecture, device)?)
    }

    /// The value of `--sample`, or its default.
    pub fn sample_size(&self, architecture: &Architecture, device: &Device) -> Result<usize> {
        let slow = matches!(architecture, Architecture::Transformer(_)) && device.is_cpu();
        ensure!(self.sample != Some(0), "--sample must be at least 1");
        Ok(self.sample.unwrap_or(if slow { SLOW_SAMPLE } else { SAMPLE }))
    }
}

impl TrainOptions {
    /// The parser of the options alone.
    pub fn command() -> Command {
        Self::augment_args(Command::new("train"))
    }

    /// If there is a `--config` in `words` from the index `first` on, inserts the options of its
    /// file there and returns true. Later options must then override earlier ones.
    pub fn insert_file(words: &mut Vec<OsString>, first: usize) -> Result<bool> {
        config::insert_options(words, first, &Self::command())
    }

    /// Keeps the parsed options, so that the run writes them beside its weights.
    pub fn remember(&mut self, matches: &ArgMatches) {
        self.parsed = config::parsed_options(matches, &Self::command());
    }

    /// Whether a sparse encoder is trained on the CPU.
    pub fn is_sparse_on_cpu(&self) -> bool {
        self.encoder == EncoderKind::Sparse && self.device == Backend::Cpu
    }

    /// The configuration of the run, without its data files.
    pub fn config(&self) -> Result<Config> {
        ensure!(self.steps > 0, "--steps must be at least 1");
        ensure!(self.patience != Some(0), "--patience must be at least 1");
        ensure!(self.validate_every != Some(0), "--validate-every must be at least 1");
        ensure!(self.log_every != Some(0), "--log-every must be at least 1");
        let delta_equal = self.delta_equal.unwrap_or(self.delta);
        ensure!(self.anchors > 1, "--anchors must be at least 2");
        ensure!(
            self.parts == 1 || self.positives == 0 || self.encoder != EncoderKind::Sparse,
            "--parts goes without --positives for the sparse encoder"
        );
        ensure!(self.parts > 0 && self.anchors / self.parts > 1, "--parts: 1 to half of --anchors");
        ensure!(self.delta > 0.0, "--delta must be above 0");
        ensure!(
            delta_equal > 0.0 && delta_equal <= self.delta,
            "--delta-equal must be above 0 and at most --delta"
        );
        ensure!(self.temperature > 0.0, "--temperature must be above 0");
        let weights = [self.contrastive, self.regression, self.cosine];
        ensure!(weights.iter().all(|&weight| weight >= 0.0), "a loss has a negative weight");
        ensure!(weights.iter().any(|&weight| weight > 0.0), "all losses have weight 0");
        ensure!((0.0..1.0).contains(&self.dropout), "--dropout must be in [0, 1)");
        ensure!(self.clip.is_none_or(|clip| clip > 0.0), "--clip must be above 0");
        let default_rate = match self.optimizer {
            OptimizerKind::Sgd => 0.05,
            OptimizerKind::Adamw => 0.002,
        };
        let architecture = self.architecture()?;
        let origin = |path| Origin::new(path, &architecture);
        let from = self.from.as_deref().map(origin).transpose()?;
        let [least, most] = VALIDATE_EVERY;
        Ok(Config {
            architecture,
            from,
            sampling: Sampling {
                anchors: self.anchors,
                positives: self.positives,
                parts: self.parts,
                mirror: !self.no_mirror,
            },
            losses: Losses {
                threshold: PositiveThreshold { delta: self.delta, delta_equal },
                temperature: self.temperature,
                contrastive: self.contrastive,
                regression: self.regression,
                cosine: self.cosine,
            },
            dropout: self.dropout,
            schedule: Schedule {
                rule: self.optimizer,
                learning_rate: self.learning_rate.unwrap_or(default_rate),
                warmup: self.warmup.unwrap_or(MOST_WARMUP.min(self.steps / 10)),
                steps: self.steps,
                weight_decay: self.weight_decay,
            },
            clip: self.clip,
            patience: self.patience,
            validate_every: self.validate_every.unwrap_or((self.steps / 5).clamp(least, most)),
            seed: self.seed,
            data: Vec::new(),
            extended: Vec::new(),
            is_default_warmup: self.warmup.is_none(),
            is_default_validate_every: self.validate_every.is_none(),
        })
    }

    /// The encoder's kind and sizes. Fails if a size is out of range or belongs to another kind.
    pub fn architecture(&self) -> Result<Architecture> {
        match self.encoder {
            EncoderKind::Mini => self.transformer(&TransformerConfig::mini()),
            EncoderKind::Small => self.transformer(&TransformerConfig::small()),
            EncoderKind::Base => self.transformer(&TransformerConfig::base()),
            EncoderKind::Sparse => {
                let sizes = [("layers", self.layers), ("hidden", self.hidden), ("mlp", self.mlp)];
                for (name, size) in sizes {
                    ensure!(size.is_none(), "--{name} is for a transformer: --encoder mini");
                }
                let config = SparseConfig {
                    features: self.features,
                    accumulator: self.accumulator,
                    embedding_dim: self.embedding_dim.unwrap_or(64),
                    heads: self.heads.unwrap_or(1),
                    middle_layers: self.middle_layers,
                };
                config.check()?;
                Ok(Architecture::Sparse(config))
            }
        }
    }

    /// A transformer with the sizes of the options; sizes that are not given are those of `known`.
    fn transformer(&self, known: &TransformerConfig) -> Result<Architecture> {
        let config = TransformerConfig {
            layers: self.layers.unwrap_or(known.layers),
            hidden: self.hidden.unwrap_or(known.hidden),
            heads: self.heads.unwrap_or(known.heads),
            mlp: self.mlp.unwrap_or(known.mlp),
            embedding_dim: self.embedding_dim.unwrap_or(known.embedding_dim),
        };
        config.check().context("--layers, --hidden, --heads, --mlp, --embedding-dim")?;
        Ok(Architecture::Transformer(config))
    }

    /// The device and the precision. If the device is a GPU, it is GPU `number` of the machine.
    pub fn compute(&self, number: usize) -> Result<Compute> {
        let device = self.device.numbered(number).context("--device")?;
        let dtype = self.precision.dtype(&device).context("--precision")?;
        ensure!(dtype != DType::F16, "--precision: in f16 gradients vanish; bf16 or f32 works");
        Ok(Compute { device, dtype })
    }

    /// Locks the run's output files before the data are read, so that a conflict costs no time.
    pub fn claim(&self) -> Result<Vec<Claim>> {
        let Output { weights, checkpoint, .. } = self.output();
        let [log, options] = ["jsonl", "toml"].map(|extension| weights.with_extension(extension));
        let inputs = self.data.data.iter().chain(&self.from).map(PathBuf::as_path);
        claim_all(&[&weights, &checkpoint, &log, &options], &inputs.collect::<Vec<_>>())
    }

    /// Paths of the run's files.
    pub fn output(&self) -> Output {
        Output {
            weights: self.out.clone(),
            checkpoint: (self.checkpoint.clone())
                .unwrap_or_else(|| self.out.with_extension("checkpoint")),
            options: self.parsed.clone(),
            tensorboard: self.tensorboard.clone(),
            log_every: self.log_every.unwrap_or((self.steps / 10).clamp(1, MOST_LOG_EVERY)),
            pace: self.pace,
        }
    }
}

#[cfg(test)]
impl TrainOptions {
    /// A run of 9 steps with `options`, which may give another number of steps.
    pub fn with_options(options: &str) -> Result<Self> {
        use clap::FromArgMatches;
        let line = format!("train --data games.azd --out space.safetensors --steps 9 {options}");
        let command = Self::command().args_override_self(true);
        Ok(Self::from_arg_matches(&command.try_get_matches_from(line.split_whitespace())?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn architecture(options: &str) -> Result<Architecture> {
        TrainOptions::with_options(options)?.architecture()
    }

    #[test]
    fn given_sizes_replace_the_defaults() -> Result<()> {
        let mini = TransformerConfig::mini();
        assert_eq!(architecture("--encoder mini")?, Architecture::Transformer(mini.clone()));
        let sizes = "--layers 2 --hidden 96 --heads 4 --mlp 80 --embedding-dim 32";
        let expected =
            TransformerConfig { layers: 2, hidden: 96, heads: 4, mlp: 80, embedding_dim: 32 };
        for name in ["mini", "base"] {
            let found = architecture(&format!("--encoder {name} {sizes}"))?;
            assert_eq!(found, Architecture::Transformer(expected.clone()));
        }
        let error = architecture("--encoder mini --heads 7").expect_err("128 is no multiple");
        assert!(format!("{error:#}").contains("hidden width 128 is not a multiple of the 7 heads"));
        let error = architecture("--mlp 80").expect_err("not for the sparse encoder").to_string();
        assert_eq!(error, "--mlp is for a transformer: --encoder mini");
        let Architecture::Sparse(sparse) = architecture("--heads 8")? else { unreachable!() };
        assert_eq!((sparse.heads, sparse.embedding_dim), (8, 64));
        // The number of rows in the table of the default weights.
        assert_eq!(sparse.features.rows(), 12_672);
        Ok(())
    }

    #[test]
    fn the_default_warm_up_is_a_tenth_of_the_steps_and_at_most_500() -> Result<()> {
        for (steps, expected) in [(300, 30), (4_990, 499), (60_000, 500)] {
            let options = TrainOptions::with_options(&format!("--steps {steps}"))?;
            assert_eq!(options.config()?.schedule.warmup, expected, "{steps} steps");
        }
        Ok(())
    }
}
