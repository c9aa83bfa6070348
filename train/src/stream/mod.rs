//! Training without end: positions are labelled while others are learnt from, and each is learnt from once. Branches
//! make weights of it.

mod branch;
mod endless;
mod folder;
mod options;
mod place;
mod recipes;
mod rounds;
mod training;

pub use branch::branch;
pub use endless::stream;
pub use options::{BranchOptions, StreamOptions};
