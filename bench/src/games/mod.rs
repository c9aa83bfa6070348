//! Games that have been played: who won, what the players thought, and their PGN.

pub mod evaluation;
pub mod foreign;
pub mod record;
