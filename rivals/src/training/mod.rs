//! How a rival is trained: what all of them share.

mod checkpoint;
mod first_parameters;
mod learner;
mod lesson;
mod log;
mod options;
mod progress;
mod run;

pub use learner::{Learner, Plan};
pub use lesson::Lesson;
pub use options::TrainOptions;
pub use run::train;
