//! Values of positions. [`Evaluate`] is the interface between a search and the evaluator of its
//! positions; an [`Evaluator`] adds a cache. A [`Worker`] makes evaluators for a model: it copies a
//! fast encoder to each search thread, and gives a device a thread that collects batches.

mod backend;
mod batch_log;
mod batcher;
mod cache;
mod device_check;
mod evaluate;
mod evaluator;
mod model_client;
mod model_source;
mod notice;
mod one_by_one;
mod position_key;
mod request;
mod worker;

pub use backend::{Backend, Precision, name as device_name};
pub use batch_log::BatchSecond;
pub use evaluate::{Evaluate, EvaluateAttributes};
pub use evaluator::{Evaluator, Lookup};
pub use model_client::ModelClient;
pub use model_source::ModelSource;
pub use notice::Notice;
pub use one_by_one::{EvaluateOne, OneByOne};
pub use position_key::PositionKey;
pub use worker::Worker;
