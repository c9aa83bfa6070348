//! `azimuth serve`: a board in the browser. A web server on this machine shows one page, and every
//! page has a WebSocket, over which it asks for searches and gets their results.
//!
//! `protocol` documents the messages. A page sends each file of games in a separate request, and
//! `games` reads the file. A page runs one task at a time, on a seat of the `queue`; the number of
//! seats bounds the searches and their memory. `gate` decides which requests are answered.

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
