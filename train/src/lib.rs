//! Training: labelled positions in any format, encoders trained on them, the loop shared by all
//! training runs, and metrics. The binary `azimuth-train` is its command line. Other training
//! programs use the same data and loop ([`training`]).

mod beginning;
pub mod claim;
mod config;
mod cpu;
pub mod data;
pub mod evaluation;
pub mod export;
pub mod inspect;
pub mod keep_memory;
pub mod label;
mod loss;
pub mod metrics;
mod model;
mod onnx;
pub mod optimizer;
pub mod options;
pub mod policy;
pub mod ranks;
pub mod run;
pub mod solis;
mod space;
pub mod training;
