//! Boards and moves as numbers, as the documents write them, and as text.

pub mod moves;
pub mod planes;
pub mod text;

pub use moves::{MOVES, move_index};
pub use planes::{PIECES, PLANES, planes};
