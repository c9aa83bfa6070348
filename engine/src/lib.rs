//! Azimuth: a UCI chess engine that plans in a learned space.
//!
//! [`uci`] is the protocol, `explain` gives reasons for moves, `play` runs games in a terminal,
//! `report` turns games into HTML pages, and `serve` shows a board in the browser. The search is
//! that of `azimuth-search`.

mod board_page;
mod embedded_tables;
pub mod embedded_weights;
mod explain;
mod map;
mod opening_book;
mod play;
pub mod program;
mod report;
mod serve;
mod session;
pub mod uci;
