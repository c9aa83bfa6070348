//! The command `policy`: trains the policy head of a weights file on the best moves of positions.

mod cross_entropy;
mod examples;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::Architecture;
use azimuth_network::embedding_bag::activations;
use azimuth_network::parameters::Parameters;
use azimuth_network::policy::{PARAMETERS, Policy, PolicyConfig};
use azimuth_network::weights::Weights;
use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Tensor, Var};
use clap::Args;
use serde_json::{Value, json};

use crate::beginning::Origin;
use crate::claim::claim_all;
use crate::cpu::side_by_side;
use crate::data::dataset::open;
use crate::data::family::Split;
use crate::export::stored_types;
use crate::model::add_gradients;
use crate::optimizer::rows::FactoredTable;
use crate::optimizer::{DenseOptimizer, OptimizerKind, Schedule};
use crate::training::{self, Checkpoint, End, Learnt, Pace, Progress, Run};
use cross_entropy::CrossEntropy;
use examples::{Example, Inputs, Shuffled, read};

/// Train the policy head of a weights file, on the CPU; resumes from its checkpoint if there is one.
/// The examples are the best labelled moves of positions, as `label --walk search` labels them.
#[derive(Args)]
pub struct PolicyOptions {
    /// Weights of a sparse encoder. Training starts from their policy head if they have one,
    /// otherwise from the encoder's first layer.
    #[arg(long)]
    weights: PathBuf,
    /// Datasets with labelled moves, or files in any format that `data` reads. Of each position, the
    /// best labelled move counts as the best move; games without variations label only the move
    /// played. The examples are held in memory, 44 bytes each.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Weights file to write; the checkpoint (`.policy.checkpoint`) is written next to it.
    #[arg(long)]
    out: PathBuf,
    /// Number of optimiser steps.
    #[arg(long)]
    steps: u64,
    /// Number of examples of a step.
    #[arg(long, default_value_t = 8_192)]
    examples: usize,
    /// Number of parts of a step, which threads compute in parallel.
    #[arg(long, default_value_t = 1)]
    parts: usize,
    /// Peak learning rate of AdamW.
    #[arg(long, default_value_t = 0.001)]
    learning_rate: f64,
    /// Number of steps of linear warm-up [default: a tenth of --steps, at most 200].
    #[arg(long)]
    warmup: Option<u64>,
    /// Seed of the order of the examples.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Precision of the encoder's stored parameters. The matrices of the head always have 8 bits.
    #[arg(long, default_value = "f32", value_parser = stored_types())]
    stored: DType,
    #[command(flatten)]
    pace: Pace,
}

/// The longest default warm-up of a policy, in steps.
const MOST_WARMUP: u64 = 200;

/// The largest number of examples of a step.
const MOST_EXAMPLES: usize = 1 << 20;

/// The largest number of parts of a step.
const MOST_PARTS: usize = 256;

/// The largest number of held-out examples that are measured.
const MOST_MEASURED: usize = 50_000;

impl PolicyOptions {
    /// Trains, and writes the weights.
    pub fn run(&self) -> Result<()> {
        ensure!(self.steps > 0, "--steps must be at least 1");
        let (examples, parts) = (1..=MOST_EXAMPLES, 1..=self.examples.min(MOST_PARTS));
        ensure!(examples.contains(&self.examples), "--examples: expected 1 to {MOST_EXAMPLES}");
        ensure!(parts.contains(&self.parts), "--parts: expected 1 to {}", parts.end());
        ensure!(self.learning_rate > 0.0, "--learning-rate must be above 0");
        let checkpoint_path = self.out.with_extension("policy.checkpoint");
        let inputs: Vec<&Path> =
            self.data.iter().chain([&self.weights]).map(PathBuf::as_path).collect();
        let _claims = claim_all(&[&self.out, &checkpoint_path], &inputs)?;
        let weights = Weights::read(&self.weights)?;
        let (config, parameters) = beginning(&weights)
            .with_context(|| format!("--weights '{}'", self.weights.display()))?;
        let (data, files) = open(&self.data)?;
        let (training, held_out) = (read(&data, Split::Training)?, read(&data, Split::HeldOut)?);
        say(format_args!("{} training examples, {} held out", training.len(), held_out.len()));
        ensure!(!held_out.is_empty(), "--data: no held-out position has labelled moves");
        let schedule = Schedule {
            rule: OptimizerKind::Adamw,
            learning_rate: self.learning_rate,
            warmup: self.warmup.unwrap_or(MOST_WARMUP.min(self.steps / 10)),
            steps: self.steps,
            weight_decay: 0.0,
        };
        let described = json!({
            "weights": Origin::new(&self.weights, &weights.metadata.architecture)?,
            "data": files,
            "policy": config,
            "schedule": schedule,
            "examples": self.examples,
            "parts": self.parts,
            "seed": self.seed,
        });
        let mut run = PolicyRun {
            head: Head::new(config, &parameters, self.parts)?,
            training: Shuffled::new(training, self.seed)?,
            schedule,
            examples: self.examples,
            described: described.to_string(),
            checkpoint: &checkpoint_path,
        };
        let mut first = 0;
        if let Some(checkpoint) = Checkpoint::of_run(&checkpoint_path, &run.described)? {
            run.head.restore(&checkpoint)?;
            first = checkpoint.step;
            say(format_args!("continuing at step {first} of '{}'", checkpoint_path.display()));
        }
        let mut progress = Progress::new(first, Some(self.steps), "positions")?;
        match training::train(&mut run, first..self.steps, self.pace, &mut progress)? {
            End::Stopped(_) => Ok(()),
            End::Complete(_) => self.write(weights, run.head.policy()?, &held_out, described),
        }
    }

    fn write(
        &self,
        weights: Weights,
        policy: Policy,
        held_out: &[Example],
        mut described: Value,
    ) -> Result<()> {
        let every = held_out.len().div_ceil(MOST_MEASURED);
        let measured = measure(&policy, held_out.iter().step_by(every))?;
        let parameters = weights.parameters.to(&Device::Cpu, self.stored)?;
        let mut weights = Weights { parameters, policy: Some(Arc::new(policy)), ..weights };
        let training = &mut weights.metadata.training;
        if !training.is_object() {
            *training = json!({});
        }
        described["held_out"] = measured.clone();
        training["policy"] = described;
        weights.write(&self.out)?;
        say(format_args!("wrote '{}'", self.out.display()));
        print_line(measured)
    }
}

/// The mean cross entropy of the best moves, and the shares of examples in which the best move is the
/// most probable one or among the three most probable.
fn measure<'a>(policy: &Policy, examples: impl Iterator<Item = &'a Example>) -> Result<Value> {
    let (mut entropy, mut first, mut first_three, mut count) = (0.0, 0u64, 0u64, 0u64);
    for example in examples {
        let (board, moves, best) = example.choice()?;
        let logits = policy.logits(&board, &moves);
        let (earlier, later) = logits.split_at(best);
        let before = earlier.iter().filter(|&&logit| logit >= logits[best]).count()
            + later.iter().filter(|&&logit| logit > logits[best]).count();
        let largest = logits.iter().copied().fold(f32::MIN, f32::max);
        let sum: f32 = logits.iter().map(|logit| (logit - largest).exp()).sum();
        entropy += f64::from(sum.ln() + largest - logits[best]);
        first += u64::from(before < 1);
        first_three += u64::from(before < 3);
        count += 1;
    }
    let share = |number: u64| number as f64 / count as f64;
    Ok(json!({
        "examples": count,
        "cross_entropy": entropy / count as f64,
        "best_move_first": share(first),
        "best_move_in_first_three": share(first_three),
    }))
}

/// The sizes and the parameters that training starts from.
fn beginning(weights: &Weights) -> Result<(PolicyConfig, Parameters)> {
    if let Some(policy) = &weights.policy {
        return Ok((policy.config().clone(), policy.parameters()?));
    }
    let Architecture::Sparse(encoder) = &weights.metadata.architecture else {
        bail!("a policy head needs a sparse encoder")
    };
    let config = PolicyConfig { features: encoder.features, accumulator: encoder.accumulator };
    let parameters = config.parameters().into_iter().map(|spec| {
        let tensor = match spec.name.starts_with("features") {
            true => weights.parameters.get(&spec.name)?,
            false => Tensor::zeros(spec.shape, DType::F32, &Device::Cpu)?,
        };
        Ok((spec.name, tensor))
    });
    let parameters = parameters.collect::<Result<Vec<_>>>()?;
    Ok((config, Parameters::new(parameters)))
}

struct PolicyRun<'a> {
    head: Head,
    training: Shuffled,
    schedule: Schedule,
    examples: usize,
    described: String,
    checkpoint: &'a Path,
}

impl Run for PolicyRun<'_> {
    fn step(&mut self, index: u64, _: &mut Progress) -> Result<Learnt> {
        let batch = self.training.batch(index * self.examples as u64, self.examples);
        let (gradients, loss) = self.head.gradients(&batch)?;
        let step = self.schedule.step(index);
        self.head.optimizer.step(&gradients, step)?;
        self.head.table.step(step);
        let losses = vec![("loss", Tensor::new(loss, &Device::Cpu)?)];
        Ok(Learnt { examples: batch.len(), losses })
    }

    fn after_step(&mut self, _: u64, _: &mut Progress) -> Result<()> {
        Ok(())
    }

    fn save(&mut self, done: u64) -> Result<()> {
        let state = self.head.optimizer.state().chain(self.head.table.state()?).collect();
        Checkpoint::new(done, self.described.clone(), state).write(self.checkpoint)
    }
}

/// A policy head in training.
struct Head {
    config: PolicyConfig,
    table: FactoredTable,
    /// The other parameters: the bias of the feature sums, and the weights and biases of moves.
    others: [Var; 3],
    optimizer: DenseOptimizer,
    parts: usize,
}

impl Head {
    fn new(config: PolicyConfig, parameters: &Parameters, parts: usize) -> Result<Self> {
        let mut table = FactoredTable::new(config.features, config.accumulator, parts, Vec::new())?;
        let variable = |name: &str| -> Result<Var> {
            Ok(Var::from_tensor(&parameters.get(name)?.to_dtype(DType::F32)?)?)
        };
        let [of_table, names @ ..] = PARAMETERS;
        table.begin(&parameters.get(of_table)?.to_dtype(DType::F32)?)?;
        let others = [variable(names[0])?, variable(names[1])?, variable(names[2])?];
        let named = names.iter().map(|name| (*name).to_owned()).zip(others.iter().cloned());
        let optimizer = DenseOptimizer::new(named)?;
        Ok(Self { config, table, others, optimizer, parts })
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.optimizer.restore(checkpoint)?;
        self.table.restore(checkpoint)
    }

    /// The gradients and the mean loss of some examples. The table keeps the gradients of its rows.
    fn gradients(&self, examples: &[Example]) -> Result<(GradStore, f32)> {
        let share = examples.len().div_ceil(self.parts);
        let shares: Vec<&[Example]> = examples.chunks(share).collect();
        let inputs = side_by_side(shares, |share| Inputs::new(&self.config, share));
        let inputs = inputs.into_iter().collect::<Result<Vec<_>>>()?;
        self.table.prepare(inputs.iter().map(|inputs| &inputs.features))?;
        let numbered: Vec<(usize, Inputs)> = inputs.into_iter().enumerate().collect();
        let found = side_by_side(numbered, |(place, inputs)| {
            self.gradients_of_part(place, inputs, examples.len())
        });
        let mut found = found.into_iter();
        let (mut gradients, mut loss) = found.next().context("a step without examples")??;
        for part in found {
            let (more, other) = part?;
            add_gradients(&mut gradients, &more, self.others.iter())?;
            loss += other;
        }
        Ok((gradients, loss))
    }

    fn gradients_of_part(
        &self,
        place: usize,
        inputs: Inputs,
        total: usize,
    ) -> Result<(GradStore, f32)> {
        let Inputs { features, rows, ends, targets } = inputs;
        let [bias, weights, move_bias] = &self.others;
        let sink = Some(self.table.sink(place));
        let sides = activations(self.table.table(), bias, features.bags(), sink)?;
        let active = sides.reshape((ends.len(), 2 * self.config.accumulator))?;
        let loss = CrossEntropy::new(rows, ends, targets, total);
        let loss = active.apply_op3(weights, move_bias, loss)?;
        Ok((loss.backward()?, loss.to_scalar()?))
    }

    /// The head for play.
    fn policy(&self) -> Result<Policy> {
        let [of_table, names @ ..] = PARAMETERS;
        let others = names.iter().zip(&self.others);
        let others =
            others.map(|(name, variable)| ((*name).to_owned(), variable.as_tensor().clone()));
        let table = [(of_table.to_owned(), self.table.whole()?)];
        Policy::new(self.config.clone(), &Parameters::new(others.chain(table)))
    }
}
