//! Positions to scores: a worker thread owns the encoder and its device, searches send it batches,
//! and a cache answers what was scored before.

mod backend;
mod cache;
mod desk;
mod evaluator;
mod scorer;
mod worker;

pub use backend::{Backend, Precision, cuda, name as device_name};
pub use evaluator::{Evaluator, Lookup};
pub use worker::{Client, Notice, Worker};
