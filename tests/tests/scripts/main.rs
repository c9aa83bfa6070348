//! The scripts that releases and CUDA builds use.

mod packaging;
mod with_cuda;
