//! Readers of common formats; each produces a stream of labelled games.

mod bag;
mod binpack;
mod bullet;
pub mod csv;
pub mod epd;
mod exact;
pub mod format;
pub mod games;
pub mod input;
mod lichess;
pub mod lines;
mod packed_games;
mod pgn;
mod position_lines;
mod viriformat;
