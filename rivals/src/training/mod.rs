//! How rivals are trained: in the loop of [`azimuth_train::training`], all of them by AdamW.

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
