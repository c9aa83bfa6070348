//! Positions to scores: a worker thread owns the encoder and its device, searches send it batches,
//! and a cache answers what was scored before.

mod backend;
mod batcher;
mod cache;
mod device_check;
mod evaluator;
mod notice;
mod request;
mod scorer;
mod worker;

pub use backend::{Backend, Precision, name as device_name};
pub use evaluator::{Evaluator, Lookup};
pub use notice::Notice;
pub use worker::{Client, Worker};
