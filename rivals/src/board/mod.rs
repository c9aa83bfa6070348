//! Boards and moves as numbers, as the documents write them.

pub mod moves;
pub mod planes;

pub use moves::{MOVES, move_index};
pub use planes::{PIECES, PLANES, planes};
