//! `azimuth-train`: labelled games in, weights out.

mod checkpoint;
mod data;
mod loss;
mod metrics;
mod model;
mod optimizer;
mod run;
mod space;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use azimuth::encoder::Architecture;
use azimuth::encoder::sparse::SparseConfig;
use azimuth::encoder::transformer::TransformerConfig;
use azimuth::inference::cuda;
use azimuth::weights::Weights;
use candle_core::Device;
use clap::{Args, Parser, Subcommand, ValueEnum};

use checkpoint::Checkpoint;
use data::{Dataset, HeldOut};
use optimizer::{Rule, Schedule};
use run::{Config, Output};

/// Positions that a transformer on the CPU embeds in less than a minute.
const SLOW_SAMPLE: usize = 2_000;

/// Trains and measures encoders for the Azimuth chess engine.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train an encoder and write a weights file; continues where its checkpoint exists.
    Train(TrainArguments),
    /// Write a weights file from a checkpoint.
    Export {
        /// The checkpoint.
        #[arg(long)]
        checkpoint: PathBuf,
        /// The weights file to write.
        #[arg(long)]
        out: PathBuf,
        #[command(flatten)]
        data: DataArguments,
        /// Where to compute.
        #[arg(long, value_enum, default_value_t = DeviceKind::Cpu)]
        device: DeviceKind,
    },
    /// Measure a weights file on the held-out games of data files.
    Eval {
        /// The weights file; the engine's own where none is given.
        #[arg(long)]
        weights: Option<PathBuf>,
        #[command(flatten)]
        data: DataArguments,
        /// Measure every game, not only those held out when training (for files of others).
        #[arg(long)]
        all: bool,
        /// End with one line of JSON.
        #[arg(long)]
        json: bool,
        /// Where to compute.
        #[arg(long, value_enum, default_value_t = DeviceKind::Cpu)]
        device: DeviceKind,
    },
}

#[derive(Args)]
struct DataArguments {
    /// Games with `[%eval]` comments: PGN, or PGN compressed as .zst.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// About how many positions the directions, the calibration and the metrics each take; all of
    /// them where not given, and 2,000 for a transformer on the CPU.
    #[arg(long)]
    sample: Option<usize>,
}

#[derive(Args)]
struct TrainArguments {
    #[command(flatten)]
    data: DataArguments,
    /// The weights file to write.
    #[arg(long)]
    out: PathBuf,
    /// The encoder to train.
    #[arg(long, value_enum, default_value_t = EncoderKind::Sparse)]
    encoder: EncoderKind,
    /// Width of one side's feature sum (sparse encoder).
    #[arg(long, default_value_t = 256)]
    accumulator: usize,
    /// Dimension of the embedding (sparse encoder).
    #[arg(long, default_value_t = 64)]
    embedding_dim: usize,
    /// Steps of the run.
    #[arg(long)]
    steps: u64,
    /// Positions of a step that an epoch sees once (the paper: 128).
    #[arg(long, default_value_t = 1024)]
    anchors: usize,
    /// Further positions for each anchor, of similar label (the paper: 5).
    #[arg(long, default_value_t = 0)]
    positives: usize,
    /// Margin of win probability within which two positions are positives.
    #[arg(long, default_value_t = 0.05)]
    delta: f32,
    /// Temperature of the contrastive loss.
    #[arg(long, default_value_t = 0.07)]
    temperature: f32,
    /// Weight of the regression of the win probability through the embedding (the paper: 0).
    #[arg(long, default_value_t = 100.0)]
    regression: f32,
    /// The rule that moves the parameters (the paper: sgd).
    #[arg(long, value_enum, default_value_t = Rule::Adamw)]
    optimizer: Rule,
    /// Highest learning rate; 0.002 for AdamW and 0.05 for SGD where not given.
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Steps of linear warm-up (AdamW).
    #[arg(long, default_value_t = 500)]
    warmup: u64,
    /// Decoupled weight decay (AdamW).
    #[arg(long, default_value_t = 0.0)]
    weight_decay: f64,
    /// Dropout (transformer).
    #[arg(long, default_value_t = 0.1)]
    dropout: f32,
    /// Do not mirror files at random (sparse encoder).
    #[arg(long)]
    no_mirror: bool,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to compute.
    #[arg(long, value_enum, default_value_t = DeviceKind::Cpu)]
    device: DeviceKind,
    /// The checkpoint file; the weights file with `.checkpoint` where not given.
    #[arg(long)]
    checkpoint: Option<PathBuf>,
    /// Steps between checkpoints.
    #[arg(long, default_value_t = 2000)]
    checkpoint_every: u64,
    /// Steps between looks at the held-out games.
    #[arg(long, default_value_t = 10_000)]
    validate_every: u64,
    /// Stop after so many steps with a checkpoint; the same command continues.
    #[arg(long)]
    stop_after: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum EncoderKind {
    Sparse,
    Mini,
    Small,
    Base,
}

#[derive(Clone, Copy, ValueEnum)]
enum DeviceKind {
    Cpu,
    Cuda,
}

impl DeviceKind {
    fn open(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::Cpu),
            Self::Cuda => cuda(),
        }
    }
}

/// Steps allocate and free megabytes; the system's allocator gives them back to the kernel each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("azimuth-train: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Train(arguments) => train(&arguments),
        Command::Export { checkpoint, out, data, device } => {
            let missing = || format!("checkpoint '{}' does not exist", checkpoint.display());
            let state = Checkpoint::read(&checkpoint)?.with_context(missing)?;
            let (config, device) = (run::config_of(&state)?, device.open()?);
            let data = read(&data, &config.architecture, &device)?;
            run::export(&config, &state, &data, &device, &out)
        }
        Command::Eval { weights, data, all, json, device } => {
            let weights = Weights::read_or_embedded(weights.as_deref())?;
            let device = device.open()?;
            let positions = match all {
                true => HeldOut::read_all(&data.data)?.sample(data.sample.unwrap_or(usize::MAX)),
                false => read(&data, &weights.metadata.architecture, &device)?.validation,
            };
            let metrics = space::evaluate(&weights, &positions, &device)?;
            println!("positions              {:>10}", metrics.positions);
            println!("Kendall tau-b          {:>10.4}", metrics.tau);
            println!("Spearman               {:>10.4}", metrics.spearman);
            println!("sibling accuracy       {:>10.4}", metrics.sibling);
            println!("R2                     {:>10.4}", metrics.r2);
            println!("calibration error      {:>10.4}", metrics.ece);
            if json {
                println!("{}", serde_json::to_string(&metrics)?);
            }
            Ok(())
        }
    }
}

fn train(arguments: &TrainArguments) -> Result<()> {
    ensure!(arguments.steps > 0, "--steps must be at least 1");
    ensure!(arguments.anchors > 1, "--anchors must be at least 2");
    ensure!(arguments.delta > 0.0, "--delta must be above 0");
    ensure!(arguments.temperature > 0.0, "--temperature must be above 0");
    ensure!((0.0..1.0).contains(&arguments.dropout), "--dropout must be in [0, 1)");
    ensure!(
        arguments.checkpoint_every > 0 && arguments.validate_every > 0,
        "--checkpoint-every and --validate-every must be at least 1"
    );
    let architecture = match arguments.encoder {
        EncoderKind::Mini => Architecture::Transformer(TransformerConfig::mini()),
        EncoderKind::Small => Architecture::Transformer(TransformerConfig::small()),
        EncoderKind::Base => Architecture::Transformer(TransformerConfig::base()),
        EncoderKind::Sparse => {
            let config = SparseConfig {
                accumulator: arguments.accumulator,
                embedding_dim: arguments.embedding_dim,
            };
            config.check()?;
            Architecture::Sparse(config)
        }
    };
    let device = arguments.device.open()?;
    let data = read(&arguments.data, &architecture, &device)?;
    let default_rate = match arguments.optimizer {
        Rule::Sgd => 0.05,
        Rule::Adamw => 0.002,
    };
    let config = Config {
        architecture,
        anchors: arguments.anchors,
        positives: arguments.positives,
        delta: arguments.delta,
        temperature: arguments.temperature,
        regression: arguments.regression,
        dropout: arguments.dropout,
        mirror: !arguments.no_mirror,
        schedule: Schedule {
            rule: arguments.optimizer,
            learning_rate: arguments.learning_rate.unwrap_or(default_rate),
            warmup: arguments.warmup,
            steps: arguments.steps,
            weight_decay: arguments.weight_decay,
        },
        seed: arguments.seed,
        data: data.files.clone(),
    };
    let output = Output {
        weights: arguments.out.clone(),
        checkpoint: (arguments.checkpoint.clone())
            .unwrap_or_else(|| arguments.out.with_extension("checkpoint")),
        checkpoint_every: arguments.checkpoint_every,
        validate_every: arguments.validate_every,
        stop_after: arguments.stop_after,
    };
    run::train(&config, &data, &device, &output)
}

/// Reads the data, with as many positions to measure as `architecture` can embed in a few minutes.
fn read(data: &DataArguments, architecture: &Architecture, device: &Device) -> Result<Dataset> {
    let slow = matches!(architecture, Architecture::Transformer(_)) && device.is_cpu();
    let sample = data.sample.unwrap_or(if slow { SLOW_SAMPLE } else { usize::MAX });
    let dataset = Dataset::read(&data.data, sample)?;
    eprintln!(
        "{} training positions, {} for the calibration, {} for validation",
        dataset.train.len(),
        dataset.calibration.positions.len(),
        dataset.validation.positions.len()
    );
    Ok(dataset)
}
