//! Values of positions. An [`Evaluator`] answers a search from its cache, or else asks a model or
//! an [`EvaluateOne`]. A [`Worker`] makes evaluators: it copies a fast encoder to each search
//! thread, and gives a device a thread that collects batches.

mod backend;
mod batcher;
mod device_check;
mod evaluator;
mod worker;

pub use backend::{Backend, Notice, Precision, name as device_name};
pub use evaluator::{Evaluator, Lookup};
pub use worker::{EvaluateOne, ModelClient, ModelSource, PositionKey, Worker};
