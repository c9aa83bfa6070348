//! `azimuth serve`: a board in the browser. A web server on this machine shows one page, and every
//! page has a WebSocket, over which it asks for searches and gets their results.
//!
//! [`crate::tasks`] has the messages and the tasks. A page sends each file of games in a separate
//! request. A page runs one task at a time, on a seat of the `queue`; the number of seats bounds the
//! searches and their memory. `gate` decides which requests are answered.
//!
//! The engine of `--engine` has its own queue, and a page talks with it over a second WebSocket.

mod command;
mod connection;
mod gate;
mod listener;
mod queue;
mod running;
mod second_engine;
mod server;

pub use command::ServeCommand;
