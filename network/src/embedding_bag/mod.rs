//! The embedding bag: for every bag of rows of a table their sum with a bias, as first layers of networks whose inputs
//! are features that are mostly absent.
//!
//! On the CPU it is an operation of candle's. The gradient of the table is whole, or in a [`RowGradients`] that has only
//! the rows that are in bags. On a device it is [`DeviceSums`].

mod bags;
mod device_sums;
pub(crate) mod kernels;
mod operation;
mod row_gradients;

pub use bags::Bags;
pub use device_sums::DeviceSums;
pub use operation::{activations, sums};
pub use row_gradients::{GradientSink, RowGradients};
