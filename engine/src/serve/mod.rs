//! `azimuth serve`: a board in the browser. A web server on this machine shows one page, and every
//! page has a WebSocket, over which it asks for searches and gets their results.
//!
//! `protocol` documents the messages. A page sends files of games in requests of their own; `games`
//! reads them. A page runs one task at a time, on a seat of the `queue`; the number of seats bounds
//! the searches and their memory. `gate` decides which requests are answered.

mod command;
mod connection;
mod games;
mod gate;
mod listener;
mod protocol;
mod queue;
mod server;
mod tasks;

pub use command::ServeCommand;
