//! Readers of common formats; each produces a stream of labelled games.

mod bag;
mod binpack;
mod bullet;
pub mod input;
mod lichess;
pub mod pgn;
pub mod position_lines;
mod viriformat;
