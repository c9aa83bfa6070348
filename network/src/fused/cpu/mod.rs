//! The operations in f32 on the CPU, vectorised by the compiler for each instruction set.

mod add_norm;
mod attention;
mod embed;
mod gelu;
mod product;
mod sums;

pub use add_norm::{add_norm, add_norm_back};
pub use attention::{attention, attention_back};
pub use embed::embed;
pub use gelu::{gelu, gelu_back};
pub use sums::{activated_sums, activated_sums_back};
