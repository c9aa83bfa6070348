//! Played games: results, evaluations, and PGN.

pub mod evaluation;
pub mod foreign;
pub mod record;
