//! Training runs of any model: the loop, checkpoints, log and progress.

mod append;
mod checkpoint;
mod differences;
mod events;
mod interruption;
mod log;
mod progress;
mod steps_or_time;
mod training_loop;

pub use checkpoint::Checkpoint;
pub(crate) use checkpoint::prefixed;
#[cfg(feature = "mpi")]
pub(crate) use interruption::Interruption;
pub use log::Log;
pub use progress::{Progress, Since};
pub use steps_or_time::StepsOrTime;
pub use training_loop::{End, Learnt, Pace, Run, Wishes, train};
