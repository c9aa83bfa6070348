//! Transformers as ONNX models, which other programs run without Azimuth.

mod export;
mod graph;

pub use export::export;
