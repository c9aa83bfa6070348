//! Runs of the trainer, its outputs, and its views of a space.

mod inspect;
mod outputs;
mod runs;
