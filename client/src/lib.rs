//! UCI engines in other processes, as opponents in matches and as sources of labels.

mod engine;

pub use engine::{Engine, OutputLine, PATIENCE, UciScore, number_after, score};
