//! Played games: results, evaluations, and PGN.

pub mod foreign;
pub mod record;
