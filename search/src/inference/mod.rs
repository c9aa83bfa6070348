//! Values of positions. [`Evaluate`] is the interface between a search and the evaluator of its
//! positions; an [`Evaluator`] adds a cache. A [`Worker`] makes evaluators for a model: it copies a
//! fast encoder to each search thread, and gives a device a thread that collects batches.

mod backend;
mod batcher;
mod device_check;
mod evaluate;
mod evaluator;
mod worker;

pub use backend::{Backend, Precision, name as device_name};
pub use batcher::BatchSecond;
pub use evaluate::{Evaluate, EvaluateAttributes, EvaluateOne};
pub use evaluator::{Evaluator, Lookup, PositionKey};
pub use worker::{ModelClient, ModelSource, Notice, Worker};
