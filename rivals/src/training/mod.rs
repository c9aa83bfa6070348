//! The training of rivals: the loop of [`azimuth_train::training`], with AdamW for all of them.

mod first_parameters;
mod options;
mod run;

pub use options::{Plan, TrainOptions};
pub use run::{Learner, Lesson, Metrics, TrainingStep, named, train};

#[cfg(test)]
pub use first_parameters::first_parameters;
