//! Import and export of checkpoints of the paper's authors (SOLIS, in PyTorch).

mod export;
mod import;
mod pth;

pub use export::export;
pub use import::{ImportOptions, import};
pub use pth::Pth;
