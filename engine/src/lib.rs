//! Azimuth: a UCI chess engine that plans in a learned space.
//!
//! [`uci`] is the protocol, `explain` gives reasons for moves, `play` runs games in a terminal,
//! `report` turns games into HTML pages, and `serve` shows a board in the browser. The search is
//! that of `azimuth-search`.

// WebAssembly has the page and UCI, and no other commands.
#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports))]

pub mod embedded_weights;
mod explain;
mod limited_strength;
mod map;
#[cfg(not(target_family = "wasm"))]
mod play;
#[cfg(not(target_family = "wasm"))]
pub mod program;
mod report;
#[cfg(not(target_family = "wasm"))]
mod serve;
mod session;
mod tasks;
pub mod uci;
#[cfg(target_family = "wasm")]
mod wasm;
