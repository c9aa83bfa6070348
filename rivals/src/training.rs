//! The training of rivals: the loop of [`azimuth_train::training`], with AdamW on the examples of a
//! lesson, held-out metrics in a log, checkpoints at intervals, and the final weights. The options
//! of `azimuth-rivals train`, and the optimisation schedule that they choose. The data: positions
//! with labelled moves, which the trainer's reader reads from games.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_chess::position::board_after;
use azimuth_search::inference::Backend;
use azimuth_train::claim::{Claim, claim_all};
use azimuth_train::data::dataset::{self, DataFile};
use azimuth_train::data::family::{Family, FamilyLabels, Split};
use azimuth_train::optimizer::{DenseOptimizer, OptimizerKind, Schedule};
use azimuth_train::training::{
    self, Checkpoint, End, Learnt, Log, Pace, Progress, Run, Since, StepsOrTime,
};
use candle_core::{DType, Device, Tensor, Var};
use candle_nn::{VarBuilder, VarMap};
use clap::{Args, ValueEnum};
use cozy_chess::{Board, Move};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::board::for_side;
use crate::weights::{Metadata, RivalWeights, check_sizes, first_parameters, named};

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
    sizes: Vec<(String, Value)>,
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
    pub fn checkpoint(&self) -> PathBuf {
        self.out.with_extension("checkpoint")
    }

    pub fn log(&self) -> PathBuf {
        self.out.with_extension("jsonl")
    }
}

fn size(text: &str) -> Result<(String, Value)> {
    let pair = text
        .split_once('=')
        .and_then(|(name, value)| Some((name.to_owned(), serde_json::from_str(value).ok()?)));
    pair.ok_or_else(|| anyhow!("expected NAME=VALUE, found '{text}'"))
}

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of examples in a step.
    pub batch: usize,
    pub steps: u64,
    pub learning_rate: f64,
    pub weight_decay: f64,
    /// The largest gradient norm; longer gradients are scaled down to it.
    pub clip: Option<f64>,
}

/// Largest number of steps over which the learning rate rises.
const WARM_UP: u64 = 100;

impl Plan {
    fn schedule(&self) -> Schedule {
        let Self { steps, learning_rate, weight_decay, .. } = *self;
        let warmup = WARM_UP.min(steps / 10 + 1);
        Schedule { rule: OptimizerKind::Adamw, learning_rate, warmup, steps, weight_decay }
    }
}

/// The name in a checkpoint of the elapsed time.
const SECONDS: &str = "seconds";

/// Trains, from the checkpoint if one exists, and writes the weights.
pub fn train(options: &TrainOptions, lesson: &Lesson, learner: &mut dyn Learner) -> Result<()> {
    let path = options.checkpoint();
    let described = lesson.describe()?;
    let before = Checkpoint::of_run(&path, &described)?;
    let mut optimizer = DenseOptimizer::new(named(&lesson.parameters)?)?;
    let mut seconds_before = 0.0;
    if let Some(checkpoint) = &before {
        optimizer.restore(checkpoint)?;
        learner.restore(checkpoint)?;
        seconds_before = checkpoint.json(SECONDS)?;
    }
    let first = before.as_ref().map_or(0, |checkpoint| checkpoint.step);
    let steps = lesson.plan.steps;
    let mut run = RivalRun {
        lesson,
        learner,
        optimizer,
        described,
        checkpoint: &path,
        log: Log::open(&options.log(), first, None)?,
        metrics: Vec::new(),
        seconds_before,
        began: Instant::now(),
    };
    let mut progress = Progress::new(first, Some(steps), "examples")?;
    if before.is_none() {
        run.measure(&mut progress)?;
    } else {
        progress.say(&format!("continuing at step {first} of '{}'", path.display()));
    }
    let TrainOptions { checkpoint_every, stop_after, .. } = *options;
    let pace = Pace { checkpoint_every, stop_after };
    match training::train(&mut run, first..steps, pace, &mut progress)? {
        End::Stopped(_) => Ok(()),
        End::Complete(_) => run.finish(&options.out),
    }
}

pub type Metrics = Vec<(&'static str, f64)>;

pub trait Learner {
    /// The loss of a step, on the examples that it draws.
    fn loss(&mut self, step: &mut TrainingStep<'_>) -> Result<Tensor>;

    /// Metrics on held-out examples; the first is the loss.
    fn measure(&mut self, lesson: &Lesson) -> Result<Metrics>;

    /// Converts the trained parameters to the form used in play.
    fn finish(&self, weights: RivalWeights) -> Result<RivalWeights> {
        Ok(weights)
    }

    /// Stores in a checkpoint the state that later steps depend on, except the parameters.
    fn save(&self, _checkpoint: &mut Checkpoint) -> Result<()> {
        Ok(())
    }

    /// Restores the state that [`Self::save`] stored.
    fn restore(&mut self, _checkpoint: &Checkpoint) -> Result<()> {
        Ok(())
    }
}

pub struct TrainingStep<'a> {
    pub lesson: &'a Lesson,
    /// The number of the step, from 0.
    pub index: u64,
    pub rng: Xoshiro256PlusPlus,
}

impl<'a> TrainingStep<'a> {
    /// `count` random studies from the training set.
    pub fn sample(&mut self, count: usize) -> Vec<&'a Study> {
        let studies = &self.lesson.studies.training;
        (0..count).filter_map(|_| studies.choose(&mut self.rng)).collect()
    }
}

/// The configuration, data and parameters of a training run.
pub struct Lesson {
    rival: &'static str,
    /// The sizes of the rival's networks, by name.
    config: Value,
    pub plan: Plan,
    pub studies: Studies,
    pub device: Device,
    pub parameters: VarMap,
    pub seed: u64,
    /// Claims on the run's files, held as long as it trains.
    _claims: Vec<Claim>,
}

impl Lesson {
    /// Reads the data, and returns the sizes of the rival's networks with the lesson. Sizes and plan
    /// are those of the preset, `document` or `small`, with the overrides of the options applied.
    pub fn read<C: Serialize + DeserializeOwned>(
        rival: &'static str,
        options: &TrainOptions,
        document: (C, Plan),
        small: (C, Plan),
    ) -> Result<(Self, C)> {
        let (sizes, plan) = match options.preset {
            Preset::Document => document,
            Preset::Small => small,
        };
        let mut sizes = serde_json::to_value(sizes)?;
        let named = sizes.as_object_mut().context("sizes have names")?;
        named.extend(options.sizes.iter().cloned());
        check_sizes("--size", &sizes)?;
        let plan = Plan {
            batch: options.batch.map_or(plan.batch, usize::from),
            steps: options.steps.unwrap_or(plan.steps).max(1),
            learning_rate: options.learning_rate.unwrap_or(plan.learning_rate),
            ..plan
        };
        let config: C = serde_json::from_value(sizes).context("--size")?;
        let device = options.device.device().context("--device")?;
        // Before the data are read, so that a conflict is reported at once.
        let inputs: Vec<&Path> = options.data.iter().map(PathBuf::as_path).collect();
        let _claims = claim_all(&[&options.out, &options.checkpoint(), &options.log()], &inputs)?;
        let lesson = Self {
            rival,
            config: serde_json::to_value(&config)?,
            plan,
            studies: Studies::read(&options.data)?,
            device,
            parameters: VarMap::new(),
            seed: options.seed,
            _claims,
        };
        Ok((lesson, config))
    }

    pub fn vb(&self) -> VarBuilder<'static> {
        first_parameters(&self.parameters, self.seed, &self.device)
    }

    /// A description of the run, which must be the same when it is resumed.
    fn describe(&self) -> Result<String> {
        let Self { rival, config, plan, studies, seed, .. } = self;
        Ok(serde_json::to_string(&json!({
            "rival": rival,
            "config": config,
            "batch": plan.batch,
            "steps": plan.steps,
            "learning_rate": plan.learning_rate,
            "weight_decay": plan.weight_decay,
            "seed": seed,
            "data": studies.files,
        }))?)
    }

    /// The trained weights, with the training time in seconds and the last metrics.
    fn weights(&self, seconds: f64, metrics: &Metrics) -> Result<RivalWeights> {
        let mut training: Value = serde_json::from_str(&self.describe()?)?;
        training["seconds"] = seconds.round().into();
        training["trainer"] = concat!("azimuth-rivals ", env!("CARGO_PKG_VERSION")).into();
        let metadata = Metadata {
            rival: self.rival.to_owned(),
            config: self.config.clone(),
            training,
            metrics: metrics.iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect(),
        };
        let tensor =
            |(name, variable): (String, Var)| Ok((name, variable.to_device(&Device::Cpu)?));
        let tensors = named(&self.parameters)?.into_iter().map(tensor).collect::<Result<_>>()?;
        Ok(RivalWeights { metadata, tensors })
    }
}

struct RivalRun<'a> {
    lesson: &'a Lesson,
    learner: &'a mut dyn Learner,
    optimizer: DenseOptimizer,
    /// The description of the run in its checkpoint.
    described: String,
    checkpoint: &'a Path,
    log: Log,
    /// The last metrics; empty if nothing was measured since the run was resumed.
    metrics: Metrics,
    /// Training time in seconds before the run was resumed.
    seconds_before: f64,
    began: Instant,
}

impl RivalRun<'_> {
    fn measure(&mut self, progress: &mut Progress) -> Result<()> {
        let Since { step, losses, .. } = progress.since_last()?;
        self.metrics = self.learner.measure(self.lesson)?;
        let loss = losses.first().map(|&(_, loss)| loss);
        let seconds = self.seconds().round();
        let mut line = json!({"step": step, "seconds": seconds, "training_loss": loss});
        for &(name, value) in &self.metrics {
            line[name] = value.into();
        }
        let words = self.metrics.iter().map(|(name, value)| format!("{name} {value:.4}"));
        progress.say(&format!("step {step}: {}", words.collect::<Vec<_>>().join(", ")));
        self.log.add(&line)
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.began.elapsed().as_secs_f64()
    }

    fn finish(mut self, out: &Path) -> Result<()> {
        if self.metrics.is_empty() {
            self.metrics = self.learner.measure(self.lesson)?;
        }
        let weights = self.lesson.weights(self.seconds(), &self.metrics)?;
        self.learner.finish(weights)?.write(out)?;
        Checkpoint::remove(self.checkpoint)
    }
}

const MEASUREMENTS: u64 = 10;

impl Run for RivalRun<'_> {
    fn step(&mut self, index: u64, _: &mut Progress) -> Result<Learnt> {
        let Self { lesson, .. } = *self;
        let plan = lesson.plan;
        // A seed for each step, so that a resumed run draws the same examples.
        let rng = Xoshiro256PlusPlus::seed_from_u64(lesson.seed.wrapping_add(index << 16));
        let loss = self.learner.loss(&mut TrainingStep { lesson, index, rng })?;
        let gradients = loss.backward()?;
        let step = plan.schedule().step(index);
        let step = step.clipped(plan.clip, || self.optimizer.squared_gradient(&gradients))?;
        self.optimizer.step(&gradients, step)?;
        Ok(Learnt { examples: plan.batch, losses: vec![("loss", loss.to_dtype(DType::F32)?)] })
    }

    fn after_step(&mut self, done: u64, progress: &mut Progress) -> Result<()> {
        let steps = self.lesson.plan.steps;
        if done == steps || done.is_multiple_of(steps.div_ceil(MEASUREMENTS)) {
            progress.pause(|progress| self.measure(progress))?;
        }
        Ok(())
    }

    fn save(&mut self, done: u64) -> Result<()> {
        let state = self.optimizer.state().collect();
        let mut checkpoint = Checkpoint::new(done, self.described.clone(), state);
        checkpoint.insert_json(SECONDS, &self.seconds())?;
        self.learner.save(&mut checkpoint)?;
        checkpoint.write(self.checkpoint)
    }
}

/// Approximate number of positions for measuring metrics.
const HELD_OUT: usize = 2_000;

pub const MEASURED_AT_ONCE: usize = 500;

/// A position with labelled moves, each with White's win probability after it.
#[derive(Clone, Debug)]
pub struct Study {
    pub board: Board,
    /// Its labelled moves, at least one.
    pub moves: Vec<(Move, f32)>,
}

impl Study {
    fn of(family: Family) -> Option<Self> {
        let FamilyLabels::Children(children) = family.labels else { return None };
        let moves = children.into_iter().map(|(mv, label)| (mv, label.win_probability()));
        let moves: Vec<_> = moves.collect();
        (!moves.is_empty()).then_some(Self { board: family.board, moves })
    }

    /// The best of the labelled moves for the side to move, and White's win probability after it.
    pub fn best(&self) -> (Move, f32) {
        let better =
            |a: (Move, f32), b: (Move, f32)| if self.gain(b.1) > self.gain(a.1) { b } else { a };
        self.moves.iter().copied().fold(self.moves[0], better)
    }

    /// A distribution over the labelled moves: the softmax of the win probabilities of the side to
    /// move, divided by `temperature`.
    pub fn preferences(&self, temperature: f32) -> Vec<(Move, f32)> {
        let best = self.gain(self.best().1);
        let weight = |p: f32| ((self.gain(p) - best) / temperature).exp();
        let sum = self.moves.iter().map(|&(_, p)| weight(p)).sum::<f32>();
        self.moves.iter().map(|&(mv, p)| (mv, weight(p) / sum)).collect()
    }

    /// The win probability of the side to move, up to a constant, if White's is `p`.
    fn gain(&self, p: f32) -> f32 {
        for_side(self.board.side_to_move(), p)
    }

    /// The position after a random labelled move, with White's win probability.
    pub fn child(&self, rng: &mut impl Rng) -> (Board, f32) {
        let (mv, p) = self.moves[rng.random_range(0..self.moves.len())];
        (board_after(&self.board, mv), p)
    }
}

/// All studies, in the order of their games.
pub struct Studies {
    pub training: Vec<Study>,
    /// The held-out set: an even sample from games outside the training set.
    pub held_out: Vec<Study>,
    /// The first studies of these games, in order.
    pub held_out_in_order: Vec<Study>,
    pub files: Vec<DataFile>,
}

impl Studies {
    /// Reads the files. Fails if they have no labelled moves for training, or none for measuring.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        let (data, files) = dataset::open(paths)?;
        let read = |split, every| -> Result<Vec<Study>> {
            let mut studies = Vec::new();
            data.families(split, every, |family| {
                studies.extend(Study::of(family.decode()?));
                Ok(())
            })?;
            Ok(studies)
        };
        let training = read(Split::Training, 1)?;
        let mut held_out_in_order = read(Split::HeldOut, 1)?;
        let every = held_out_in_order.len().div_ceil(HELD_OUT).max(1);
        let held_out: Vec<Study> = held_out_in_order.iter().step_by(every).cloned().collect();
        held_out_in_order.truncate(HELD_OUT);
        ensure!(
            !training.is_empty() && !held_out.is_empty(),
            "the data has too few games with labelled moves: {} positions to learn from and {} held out, of which \
             there must be some",
            training.len(),
            held_out.len()
        );
        Ok(Self { training, held_out, held_out_in_order, files })
    }
}
