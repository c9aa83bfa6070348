//! The embedding bag: the sum of the rows of a table in each bag, plus a bias. It is the first
//! layer of networks with sparse input features.
//!
//! On the CPU it is a custom candle operation. The gradient of the table is dense, or a
//! [`RowGradients`] with only the rows in bags. On a device it is [`DeviceSums`].

mod bags;
mod device_sums;
pub(crate) mod kernels;
mod operation;
mod row_gradients;

pub use bags::Bags;
pub use device_sums::DeviceSums;
pub use operation::{activations, sums};
pub use row_gradients::{GradientSink, RowGradients};
