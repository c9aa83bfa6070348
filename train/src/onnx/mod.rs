//! Transformers as ONNX models, which other programs run without Azimuth.

mod export;
mod graph;
mod messages;

pub use export::export;
