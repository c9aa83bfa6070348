//! The training of rivals: the loop of [`azimuth_train::training`], with AdamW for all of them.

mod first_parameters;
mod learner;
mod lesson;
mod options;
mod run;

#[cfg(test)]
pub use first_parameters::first_parameters;
pub use learner::{Learner, Metrics, Plan};
pub use lesson::{Lesson, named};
pub use options::TrainOptions;
pub use run::train;
