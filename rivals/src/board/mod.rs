//! Boards and moves as network inputs and outputs, in the encodings of the documents, and as text.

pub mod moves;
pub mod planes;

pub use moves::{MOVES, move_count, move_index};
pub use planes::{PIECES, PLANES, planes, signs, turned, viewer};
