//! The operations in f32 on the CPU, vectorised by the compiler for each instruction set.

mod add_norm;
mod attention;
mod product;

pub use add_norm::{add_norm, add_norm_back, embed, gelu, gelu_back};
pub use attention::{attention, attention_back};
pub use product::{activated_sums, activated_sums_back};
