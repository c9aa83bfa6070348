//! Training runs of any model: the loop, checkpoints, log and progress.

mod checkpoint;
mod log;
mod progress;
mod training_loop;

pub use checkpoint::Checkpoint;
pub(crate) use checkpoint::prefixed;
pub use log::Log;
pub(crate) use progress::ProgressLines;
pub use progress::{Learnt, Progress, Since};
pub use training_loop::{End, Pace, Run, StepsOrTime, Wishes, train};

#[cfg(feature = "mpi")]
pub(crate) use training_loop::Interruption;
