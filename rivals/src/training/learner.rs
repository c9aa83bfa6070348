//! The parts of training that each rival implements.

use anyhow::Result;
use azimuth_train::training::Checkpoint;
use candle_core::Tensor;
use rand_xoshiro::Xoshiro256PlusPlus;

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

/// Named numbers.
pub type Metrics = Vec<(&'static str, f64)>;

/// A model that can be trained.
pub trait Learner {
    /// The loss of step `step`, from 0, on examples drawn with `rng`.
    fn loss(&mut self, step: u64, rng: &mut Xoshiro256PlusPlus) -> Result<Tensor>;

    /// Metrics on held-out examples; the first is the loss.
    fn measure(&mut self) -> Result<Metrics>;

    /// Stores in a checkpoint the state that later steps depend on, except the parameters.
    fn save(&self, _checkpoint: &mut Checkpoint) -> Result<()> {
        Ok(())
    }

    /// Restores the state that [`Self::save`] stored.
    fn restore(&mut self, _checkpoint: &Checkpoint) -> Result<()> {
        Ok(())
    }
}
