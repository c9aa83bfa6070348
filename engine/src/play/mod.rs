//! `azimuth play`: a game against the engine in a terminal.

mod advice;
mod board;
mod command;
mod game;
mod opponent;
mod pgn;
mod session;
mod time;

pub use command::PlayCommand;
