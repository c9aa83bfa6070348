//! UCI engines in other processes, as opponents in matches and as sources of labels.

mod engine;

pub use engine::{Engine, Line, PATIENCE, Score, number_after, score};
