//! Files and numbers that other programs write or read: games, weights, checkpoints, models and
//! tokens.

mod odd_games;
mod transformers;
mod weights;
