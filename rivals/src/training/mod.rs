//! The training of rivals: the loop of [`azimuth_train::training`], with AdamW for all of them.

mod first_parameters;
mod options;
mod run;

#[cfg(test)]
pub use first_parameters::first_parameters;
pub use options::TrainOptions;
pub use run::train;
pub use run::{Learner, Metrics, Plan};
pub use run::{Lesson, named};
