//! What training is made of: labelled positions of any format, encoders that learn from them, metrics that say how
//! well. The binary `azimuth-train` is its command line; other programs that learn read the same data.

mod beginning;
mod catch_panic;
mod checkpoint;
pub mod claim;
pub mod data;
pub mod decided;
mod dense_table;
mod early_stopping;
pub mod export;
mod flat_parameters;
mod games;
mod hex;
mod in_place;
pub mod inspect;
pub mod label;
mod loss;
pub mod metrics;
mod model;
mod moving_average;
mod optimizer;
pub mod options;
mod positive_threshold;
mod progress;
pub mod run;
mod side_by_side;
pub mod solis;
pub mod space;
mod steps_or_time;
pub mod stream;
pub mod sweep;
