//! Readers of common formats; each produces a stream of labelled games.

mod bag;
mod binpack;
mod bullet;
pub mod games;
pub mod input;
mod lichess;
mod pgn;
pub mod position_lines;
mod viriformat;
