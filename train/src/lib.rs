//! Training: labelled positions in any format, encoders trained on them, the loop shared by all
//! training runs, and metrics. The binary `azimuth-train` is its command line. Other training
//! programs use the same data and loop ([`training`]).

mod beginning;
mod catch_panic;
pub mod claim;
mod config;
mod config_file;
pub mod data;
pub mod evaluation;
pub mod export;
mod in_place;
pub mod inspect;
pub mod keep_memory;
pub mod label;
mod loss;
pub mod metrics;
mod model;
mod move_choice;
mod onnx;
pub mod optimizer;
pub mod options;
pub mod ranks;
pub mod run;
mod side_by_side;
pub mod solis;
mod space;
mod state;
pub mod sweep;
pub mod training;
