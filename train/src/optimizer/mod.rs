//! Optimisers: the paper's SGD with momentum, and AdamW with warm-up. Learning-rate schedules.

pub mod dense;
mod moving;
pub mod rows;

use anyhow::Result;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The update rule of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimizerKind {
    /// SGD with momentum 0.9 (the paper).
    Sgd,
    /// AdamW with linear warm-up.
    Adamw,
}

const MOMENTUM: f64 = 0.9;
const BETAS: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-8;

/// The shape of the learning rate after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScheduleShape {
    /// For AdamW, a cosine decay to 0 at the run's last step; for SGD, constant (the paper).
    #[default]
    Cosine,
    /// Constant.
    Constant,
    /// Constant until step `first`, then a decay to 0 at the run's last step by 1 - sqrt(x), where
    /// x is the completed share of the decay (Hägele et al. 2024, Scaling Laws and Compute-Optimal
    /// Training Beyond Fixed Training Durations).
    Decay {
        /// Number of steps before the decay.
        first: u64,
    },
}

impl ScheduleShape {
    /// Whether it is the default, which is not serialised.
    fn is_cosine(&self) -> bool {
        *self == Self::Cosine
    }
}

/// The learning-rate schedule of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The update rule.
    pub rule: OptimizerKind,
    /// The peak learning rate.
    pub learning_rate: f64,
    /// Number of steps of linear warm-up (AdamW).
    pub warmup: u64,
    /// Number of steps of the run; 0 for a run without an end. A decaying rate is 0 after this
    /// number of steps.
    pub steps: u64,
    /// Decoupled weight decay (AdamW).
    pub weight_decay: f64,
    /// The shape of the learning rate.
    #[serde(default, skip_serializing_if = "ScheduleShape::is_cosine")]
    pub shape: ScheduleShape,
}

/// The factors of one step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    rule: OptimizerKind,
    learning_rate: f64,
    weight_decay: f64,
    /// Divisors that correct the bias of the moments, which start from 0.
    corrections: (f64, f64),
    /// Factor of the gradients (clipping).
    scale: f64,
}

impl Step {
    /// Step `index`, counted from 0, of a rule.
    fn new(rule: OptimizerKind, index: u64, learning_rate: f64, weight_decay: f64) -> Self {
        let corrected = |beta: f64| 1.0 - beta.powf((index + 1) as f64);
        let corrections = (corrected(BETAS.0), corrected(BETAS.1));
        Self { rule, learning_rate, weight_decay, corrections, scale: 1.0 }
    }

    /// Step `index`, counted from 0, of AdamW.
    pub fn adamw(index: u64, learning_rate: f64, weight_decay: f64) -> Self {
        Self::new(OptimizerKind::Adamw, index, learning_rate, weight_decay)
    }

    /// The same step with the gradient clipped to the norm `clip`; `squared` computes its squared
    /// norm.
    pub fn clipped(self, clip: Option<f64>, squared: impl FnOnce() -> Result<f64>) -> Result<Self> {
        let Some(longest) = clip else { return Ok(self) };
        let scale = (longest / squared()?.sqrt().max(f64::MIN_POSITIVE)).min(1.0);
        Ok(Self { scale, ..self })
    }
}

impl Schedule {
    /// The learning rate of step `index`, counted from 0.
    pub fn learning_rate(&self, index: u64) -> f64 {
        self.step(index).learning_rate
    }

    /// The factors of step `index`, counted from 0.
    pub fn step(&self, index: u64) -> Step {
        let done = |first: u64| {
            let (done, all) = (index.saturating_sub(first), self.steps.saturating_sub(first));
            (done as f64 / all.max(1) as f64).min(1.0)
        };
        let warm = match self.rule {
            OptimizerKind::Sgd => 1.0,
            OptimizerKind::Adamw => ((index + 1) as f64 / self.warmup.max(1) as f64).min(1.0),
        };
        let factor = match (self.shape, self.rule) {
            (ScheduleShape::Cosine, OptimizerKind::Adamw) => {
                warm * 0.5 * (1.0 + (std::f64::consts::PI * done(0)).cos())
            }
            (ScheduleShape::Cosine, OptimizerKind::Sgd) | (ScheduleShape::Constant, _) => warm,
            (ScheduleShape::Decay { first }, _) => warm * (1.0 - done(first).sqrt()),
        };
        Step::new(self.rule, index, self.learning_rate * factor, self.weight_decay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(shape: ScheduleShape, steps: u64) -> Schedule {
        let rule = OptimizerKind::Adamw;
        Schedule { rule, learning_rate: 2.0, warmup: 4, steps, weight_decay: 0.0, shape }
    }

    #[test]
    fn a_constant_rate_stays_and_a_branch_falls_from_it_to_nothing() {
        let (constant, branch) = (
            schedule(ScheduleShape::Constant, 0),
            schedule(ScheduleShape::Decay { first: 100 }, 200),
        );
        let rate = |schedule: &Schedule, index| schedule.learning_rate(index);
        assert_eq!(
            [0, 1, 3, 4, 1_000_000].map(|index| rate(&constant, index)),
            [0.5, 1.0, 2.0, 2.0, 2.0]
        );
        assert_eq!(
            [1, 50, 100, 125, 200, 300].map(|index| rate(&branch, index)),
            [1.0, 2.0, 2.0, 1.0, 0.0, 0.0]
        );
    }

    #[test]
    fn long_gradients_are_cut_and_short_ones_left() -> Result<()> {
        let scale = |clip, squared| -> Result<f64> {
            Ok(Step::adamw(0, 1.0, 0.0).clipped(clip, || Ok(squared))?.scale)
        };
        assert_eq!(
            [scale(Some(5.0), 100.0)?, scale(Some(15.0), 100.0)?, scale(Some(5.0), 0.0)?],
            [0.5, 1.0, 1.0]
        );
        let unasked = Step::adamw(0, 1.0, 0.0).clipped(None, || anyhow::bail!("not needed"))?;
        assert_eq!(unasked.scale, 1.0);
        Ok(())
    }

    #[test]
    fn a_schedule_without_a_shape_is_the_cosine_as_ever() -> Result<()> {
        let cosine = schedule(ScheduleShape::Cosine, 10);
        let text = serde_json::to_string(&cosine)?;
        assert!(!text.contains("shape"), "{text}");
        assert_eq!(serde_json::from_str::<Schedule>(&text)?, cosine);
        let branch = schedule(ScheduleShape::Decay { first: 7 }, 10);
        assert_eq!(serde_json::from_str::<Schedule>(&serde_json::to_string(&branch)?)?, branch);
        Ok(())
    }
}
