//! Azimuth: a UCI chess engine that plans in a learned space.
//!
//! A position goes from [`encoder`], which maps it to a unit vector, through [`inference`], which
//! batches and caches the scores, to [`search`], which plans; [`uci`] talks, [`explain`] gives
//! reasons, [`report`] makes games into [`pages`]. Positions are those of `azimuth-chess`; weights
//! and their networks are those of `azimuth-network`. The programs begin in [`command_line`].

pub mod command_line;
pub mod embedded_weights;
pub mod encoder;
pub mod explain;
mod hash_slot;
pub mod inference;
mod large_memory;
pub mod model;
pub mod names;
pub mod pages;
#[cfg(test)]
mod refusals;
pub mod report;
pub mod search;
pub mod space;
pub mod uci;
