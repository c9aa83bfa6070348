//! Optimisers: the paper's SGD with momentum, and AdamW with warm-up and cosine decay.

pub mod dense;
mod moving;
pub mod rows;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which rule moves the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimizerKind {
    /// SGD with momentum 0.9 at a constant rate (the paper).
    Sgd,
    /// AdamW with linear warm-up and cosine decay to 0.
    Adamw,
}

const MOMENTUM: f64 = 0.9;
const BETAS: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-8;

/// How fast the parameters move over a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The rule.
    pub rule: OptimizerKind,
    /// Its highest learning rate.
    pub learning_rate: f64,
    /// Steps of linear warm-up (AdamW).
    pub warmup: u64,
    /// Steps of the run, after which AdamW's rate is 0.
    pub steps: u64,
    /// Decoupled weight decay (AdamW).
    pub weight_decay: f64,
}

/// The factors of one step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    rule: OptimizerKind,
    learning_rate: f64,
    weight_decay: f64,
    /// What corrects the moments' start from 0.
    corrections: (f64, f64),
    /// What gradients are multiplied with.
    scale: f64,
}

impl Step {
    /// The same step with gradients of at most `longest`, given the square of their length.
    pub fn clipped(self, longest: f64, squared: f64) -> Self {
        Self { scale: (longest / squared.sqrt().max(f64::MIN_POSITIVE)).min(1.0), ..self }
    }
}

impl Schedule {
    /// The factors of step `index`, counted from 0.
    pub fn step(&self, index: u64) -> Step {
        let done = (index as f64 / self.steps.max(1) as f64).min(1.0);
        let warm = ((index + 1) as f64 / self.warmup.max(1) as f64).min(1.0);
        let factor = match self.rule {
            OptimizerKind::Sgd => 1.0,
            OptimizerKind::Adamw => warm * 0.5 * (1.0 + (std::f64::consts::PI * done).cos()),
        };
        let corrected = |beta: f64| 1.0 - beta.powf((index + 1) as f64);
        Step {
            rule: self.rule,
            learning_rate: self.learning_rate * factor,
            weight_decay: self.weight_decay,
            corrections: (corrected(BETAS.0), corrected(BETAS.1)),
            scale: 1.0,
        }
    }
}
