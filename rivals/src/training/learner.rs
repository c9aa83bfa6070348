//! The parts of its training that each rival brings.

use anyhow::Result;
use azimuth_train::training::Checkpoint;
use candle_core::Tensor;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How long and how fast it learns.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Examples of a step.
    pub batch: usize,
    /// Steps of the optimiser.
    pub steps: u64,
    /// The learning rate at its highest: it rises to it and falls to a tenth of it.
    pub learning_rate: f64,
    /// AdamW's.
    pub weight_decay: f64,
    /// Gradients longer than this are shortened to it.
    pub clip: Option<f64>,
}

/// Numbers with their names.
pub type Metrics = Vec<(&'static str, f64)>;

/// A model that learns.
pub trait Learner {
    /// The loss of step `step`, from 0, on examples drawn by `rng`.
    fn loss(&mut self, step: u64, rng: &mut Xoshiro256PlusPlus) -> Result<Tensor>;

    /// Metrics on examples that it does not learn from; the first is the loss.
    fn measure(&mut self) -> Result<Metrics>;

    /// Puts everything into a checkpoint that the next steps depend on, but for the parameters.
    fn save(&self, _checkpoint: &mut Checkpoint) -> Result<()> {
        Ok(())
    }

    /// Takes back what [`Self::save`] put there.
    fn restore(&mut self, _checkpoint: &Checkpoint) -> Result<()> {
        Ok(())
    }
}
