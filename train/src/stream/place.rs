//! How far a stream is.

use anyhow::{Result, ensure};
use candle_core::{Device, Tensor};

use crate::training::Checkpoint;

/// The name of a checkpoint's tensor for it.
const NAME: &str = "stream.place";

/// A place in a stream or a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The round, from 1: a branch has rounds apart from its stream's.
    pub round: u64,
    /// Steps done of it.
    pub step: u64,
    /// Positions seen, before a branch those of its stream.
    pub positions: u64,
}

impl Place {
    /// Nothing is done. Round 0 is the held-out one.
    pub const START: Self = Self { round: 1, step: 0, positions: 0 };

    /// The beginning of the round after this one.
    pub fn next_round(self) -> Self {
        Self { round: self.round + 1, step: 0, ..self }
    }

    /// Puts it into a checkpoint.
    pub fn put(self, checkpoint: &mut Checkpoint) -> Result<()> {
        let numbers = [self.round, self.step, self.positions].map(|number| number as i64);
        checkpoint.insert(NAME, Tensor::new(&numbers, &Device::Cpu)?);
        Ok(())
    }

    /// Takes it from a checkpoint. Fails where that is of another kind of run.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self> {
        let numbers: Vec<i64> = checkpoint.tensor(NAME)?.to_vec1()?;
        ensure!(numbers.len() == 3, "checkpoint: '{NAME}' has another size");
        let [round, step, positions] = std::array::from_fn(|index| numbers[index] as u64);
        Ok(Self { round, step, positions })
    }
}
