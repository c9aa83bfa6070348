//! The progress of a stream.

use anyhow::{Result, ensure};
use candle_core::{Device, Tensor};

use crate::training::Checkpoint;

/// The name in a checkpoint of the tensor that holds a [`Place`].
const NAME: &str = "stream.place";

/// The progress of a stream or a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the round, from 1. A branch numbers its rounds separately.
    pub round: u64,
    /// Number of steps done in the round.
    pub step: u64,
    /// Number of positions seen, including those of the stream before a branch.
    pub positions: u64,
}

impl Place {
    /// The start of a run. Round 0 is held out.
    pub const START: Self = Self { round: 1, step: 0, positions: 0 };

    /// The start of the next round.
    pub fn next_round(self) -> Self {
        Self { round: self.round + 1, step: 0, ..self }
    }

    /// Stores the progress in a checkpoint.
    pub fn put(self, checkpoint: &mut Checkpoint) -> Result<()> {
        let numbers = [self.round, self.step, self.positions].map(|number| number as i64);
        checkpoint.insert(NAME, Tensor::new(&numbers, &Device::Cpu)?);
        Ok(())
    }

    /// Reads the progress from a checkpoint. Fails if the checkpoint is of another kind of run.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self> {
        let numbers: Vec<i64> = checkpoint.tensor(NAME)?.to_vec1()?;
        ensure!(numbers.len() == 3, "checkpoint: '{NAME}' has another size");
        let [round, step, positions] = std::array::from_fn(|index| numbers[index] as u64);
        Ok(Self { round, step, positions })
    }
}
