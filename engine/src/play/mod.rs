//! `azimuth play`: a game against the engine in a terminal.

mod board;
mod game;
mod opponent;
mod session;

pub use session::PlayCommand;
