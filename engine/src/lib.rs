//! Azimuth: a UCI chess engine that plans in a learned space.
//!
//! The way of a position through the crate: [`position`] holds it, [`tokens`] and the features of
//! [`encoder::sparse`] describe it, an [`encoder`] maps it to a unit vector, [`axis`] reads that
//! vector as a score, [`inference`] batches and caches, [`search`] plans, [`uci`] talks, [`explain`]
//! gives reasons, [`report`] makes games into [`pages`]. [`weights`] are what a trained space is stored as.
//! The programs begin in [`command_line`]. [`placement`], [`san`], `see`, `hash_slot` and `text` serve several of them.

mod attacked_squares;
pub mod axis;
pub mod bench_positions;
mod check_squares;
pub mod command_line;
pub mod encoder;
pub mod explain;
mod hash_slot;
pub mod inference;
mod large_memory;
pub mod pages;
pub mod placement;
pub mod position;
pub mod report;
pub mod san;
pub mod search;
pub mod see;
mod text;
pub mod tokens;
pub mod uci;
pub mod weights;
